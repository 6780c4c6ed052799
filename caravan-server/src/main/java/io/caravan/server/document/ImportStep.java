package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.BY_A_CLIENT;
import static io.caravan.server.document.DocumentAttributes.ORIGIN;
import static io.caravan.server.document.DocumentAttributes.RESTORING;

import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A step in the import of a document from another store, with its original sequences, requested by a client over any
 * protocol. An import consists of one step or of several; the document is invisible until the last step. A step that
 * continues an import checks that the document has not changed since the previous step. If the client disconnects, the
 * unfinished document stays invisible; it is deleted when another import of the name begins, when no step has followed
 * for two days, or when the server restarts.
 *
 * @param numbers the numeric arguments of the step, in the order of {@link Kind#numbers()}
 * @param replaced the existing document that a new one may replace
 */
public record ImportStep(
        Kind kind, List<Long> numbers, Replaced replaced, DocumentAttributes attributes, List<byte[]> values) {
    /** Maximum first sequence, so that HTTP offsets have enough digits for all later appends. */
    public static final long MAX_FIRST_SEQUENCE = 1_000_000_000_000_000L;

    private static final String FIRST = "first";
    private static final String ID = "id";
    private static final String SEQUENCE = "sequence";

    /** The existing document that an imported document may replace. */
    public enum Replaced {
        /** None: the name must be free. */
        NOTHING,
        /** A redirect left by a move to another server, from which the document is now being moved back. */
        REDIRECT,
        /** Any document or redirect with the name; the write that imports the new document deletes the existing one. */
        ANYTHING
    }

    public enum Kind {
        /** Imports a complete document in one step. */
        WHOLE(true, true, FIRST),
        /** Begins an import by creating an invisible document. */
        BEGIN(true, false, FIRST),
        /** Appends values to a document whose import has begun. */
        ADD(false, true, ID, SEQUENCE),
        /** Ends an import by making the document visible. */
        END(false, false, ID, SEQUENCE),
        /**
         * Updates an imported document after its source has changed, and trims the values before its new first
         * sequence. Uses only the portable attributes of the source and its origin.
         */
        CONTINUE(true, true, ID, SEQUENCE, FIRST),
        /** Deletes a document whose import has begun. */
        ABORT(false, false, ID),
        /** Deletes an imported document. */
        DELETE(false, false, ID);

        private final boolean takesAttributes;
        private final boolean takesValues;
        private final List<String> numbers;

        Kind(boolean takesAttributes, boolean takesValues, String... numbers) {
            this.takesAttributes = takesAttributes;
            this.takesValues = takesValues;
            this.numbers = List.of(numbers);
        }

        public boolean takesAttributes() {
            return takesAttributes;
        }

        public boolean takesValues() {
            return takesValues;
        }

        /** Whether the step creates a document, which may replace another. */
        public boolean creates() {
            return this == WHOLE || this == BEGIN;
        }

        public List<String> numbers() {
            return numbers;
        }
    }

    public ImportStep {
        numbers = List.copyOf(numbers);
        values = List.copyOf(values);
    }

    private long number(String name) {
        return numbers.get(kind.numbers.indexOf(name));
    }

    /**
     * Performs the step as part of a write.
     *
     * @return for {@code BEGIN}, the id of the document; for {@code ABORT} and {@code DELETE}, whether a document was
     *     deleted; otherwise, the sequence after the last value
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code MOVED}, {@code NOT_JSON},
     *     {@code CHANGED}, {@code SEQUENCE_CONFLICT}, {@code HAS_FORKS}
     * @throws IllegalArgumentException when the first sequence is out of range
     */
    public Object applyTo(EditedDocument document) {
        return switch (kind) {
            case WHOLE -> whole(document);
            case BEGIN -> begin(document);
            case ADD -> {
                EditedDocument imported = imported(document);
                imported.importPart(requireImporting(document, imported), values);
                yield nextSequence(SEQUENCE);
            }
            case END -> end(document);
            case CONTINUE -> continueImport(document);
            case ABORT -> {
                EditedDocument imported = imported(document);
                yield imported.is(number(ID)) && imported.attributes().importing() && imported.abortRestoring();
            }
            case DELETE -> document.info() != null && document.is(number(ID)) && document.delete();
        };
    }

    /** Returns the sequence after the values of this step, the first of which has the sequence with this name. */
    private long nextSequence(String first) {
        return number(first) + values.size();
    }

    private long whole(EditedDocument document) {
        requireFirst();
        freeName(document);
        document.importPart(attributes.withStart(number(FIRST)).withCopied(nextSequence(FIRST)), values);
        return nextSequence(FIRST);
    }

    /**
     * Creates an invisible document, and deletes any unfinished import with the same name. Until the last step, a
     * redirect stays in effect, and a document to be replaced stays visible and accepts writes.
     */
    private long begin(EditedDocument document) {
        requireFirst();
        DocumentAttributes importing = attributes.withStart(number(FIRST)).with(RESTORING, BY_A_CLIENT);
        if (replaced == Replaced.ANYTHING
                && document.evenDeleted() != null
                && document.attributes().visible()) {
            document.requireNoFence();
            document.abortReplacement();
            EditedDocument staging = document.replacement();
            staging.requireMissing();
            return staging.importPart(importing, List.of());
        }
        return document.importPart(importing.withMovedTo(freeName(document)), List.of());
    }

    private void requireFirst() {
        if (number(FIRST) < 0 || number(FIRST) > MAX_FIRST_SEQUENCE) {
            throw new IllegalArgumentException(
                    "the first sequence must be from 0 to " + MAX_FIRST_SEQUENCE + ", was " + number(FIRST));
        }
    }

    /** Frees the name, and returns the target of the redirect that occupied it, or null if there was no redirect. */
    private @Nullable RedirectTarget freeName(EditedDocument document) {
        document.abortReplacement();
        if (document.attributes().importing()) {
            document.abortRestoring();
        }
        RedirectTarget redirect = document.attributes().movedTo();
        if (redirect != null && replaced != Replaced.NOTHING) {
            document.drop();
            return redirect;
        }
        if (document.info() != null && replaced != Replaced.ANYTHING) {
            throw document.rejected(Reason.EXISTS, "exists, and is not replaced");
        }
        document.delete();
        // A deleted document whose forks need its values still occupies the name.
        document.info();
        return null;
    }

    private long end(EditedDocument document) {
        EditedDocument imported = imported(document);
        DocumentAttributes made = requireImporting(document, imported)
                .with(RESTORING, null)
                .withMovedTo(null)
                .withCopied(number(SEQUENCE));
        if (imported != document) {
            document.replaceBy(imported);
        }
        document.importPart(made, List.of());
        return number(SEQUENCE);
    }

    /** Applies the changes of the source: values that were appended or trimmed, and its present attributes. */
    private long continueImport(EditedDocument document) {
        DocumentInfo info = document.info();
        if (info == null || info.id() != number(ID)) {
            throw document.rejected(Reason.CHANGED, "was deleted or replaced since it was imported");
        }
        requireNext(document, info, "continues");
        // A document that has lost values that the source retains is not a copy, and has no origin.
        Origin origin = info.firstSequence() <= number(FIRST) ? attributes.origin() : null;
        DocumentAttributes continued = info.attributes().with(ORIGIN, origin).withCopied(nextSequence(SEQUENCE));
        document.importPart(continued.withPortable(attributes.raw()), values);
        document.trimTo(number(FIRST));
        return nextSequence(SEQUENCE);
    }

    /** Returns the document being imported: either this document or its replacement. */
    private EditedDocument imported(EditedDocument document) {
        return document.is(number(ID)) ? document : document.replacement();
    }

    private DocumentAttributes requireImporting(EditedDocument document, EditedDocument imported) {
        DocumentInfo info = imported.evenDeleted();
        if (info == null || info.id() != number(ID) || !info.attributes().importing()) {
            throw document.rejected(Reason.CHANGED, "is no longer being imported");
        }
        requireNext(document, info, "is being imported, and continues");
        return info.attributes();
    }

    private void requireNext(EditedDocument document, DocumentInfo info, String what) {
        long sequence = number(SEQUENCE);
        if (info.nextSequence() != sequence) {
            String problem = what + " with sequence " + info.nextSequence() + " instead of " + sequence;
            throw document.rejected(Reason.SEQUENCE_CONFLICT, problem, sequence, info.nextSequence());
        }
    }
}
