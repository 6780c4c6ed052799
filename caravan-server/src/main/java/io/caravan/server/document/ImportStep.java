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
    private static final String NEXT = "next";

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
        WHOLE(NEXT, true, true, FIRST),
        /** Begins an import by creating an invisible document. */
        BEGIN(ID, true, false, FIRST),
        /** Appends values to a document whose import has begun. */
        ADD(NEXT, false, true, ID, SEQUENCE),
        /** Ends an import by making the document visible. */
        END(NEXT, false, false, ID, SEQUENCE),
        /**
         * Updates an imported document after its source has changed, and trims the values before its new first
         * sequence. Uses only the portable attributes of the source and its origin.
         */
        CONTINUE(NEXT, true, true, ID, SEQUENCE, FIRST),
        /** Deletes a document whose import has begun. */
        ABORT("aborted", false, false, ID),
        /** Deletes an imported document. */
        DELETE("deleted", false, false, ID);

        private final String result;
        private final boolean takesAttributes;
        private final boolean takesValues;
        private final List<String> numbers;

        Kind(String result, boolean takesAttributes, boolean takesValues, String... numbers) {
            this.result = result;
            this.takesAttributes = takesAttributes;
            this.takesValues = takesValues;
            this.numbers = List.of(numbers);
        }

        public String result() {
            return result;
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
            case WHOLE -> whole(document, number(FIRST));
            case BEGIN -> begin(document, number(FIRST));
            case ADD -> add(document, number(SEQUENCE));
            case END -> end(document, number(SEQUENCE));
            case CONTINUE -> continueImport(document, number(ID), number(SEQUENCE));
            case ABORT -> abort(document, number(ID));
            case DELETE -> delete(document, number(ID));
        };
    }

    private long whole(EditedDocument document, long firstSequence) {
        freeName(document, firstSequence);
        long next = firstSequence + values.size();
        document.importPart(attributes.withStart(firstSequence).withCopied(next), values);
        return next;
    }

    /**
     * Creates an invisible document, and deletes any unfinished import with the same name. Until the last step, a
     * redirect stays in effect, and a document to be replaced stays visible and accepts writes.
     */
    private long begin(EditedDocument document, long firstSequence) {
        requireFirst(firstSequence);
        DocumentAttributes importing = attributes.withStart(firstSequence).with(RESTORING, BY_A_CLIENT);
        DocumentInfo there = document.evenDeleted();
        if (replaced == Replaced.ANYTHING && there != null && there.attributes().visible()) {
            document.requireNoFence();
            document.abortReplacement();
            EditedDocument staging = document.replacement();
            staging.requireMissing();
            return staging.importPart(importing, List.of());
        }
        RedirectTarget redirect = freeName(document, firstSequence);
        return document.importPart(importing.withMovedTo(redirect), List.of());
    }

    private static void requireFirst(long sequence) {
        if (sequence < 0 || sequence > MAX_FIRST_SEQUENCE) {
            throw new IllegalArgumentException(
                    "the first sequence must be from 0 to " + MAX_FIRST_SEQUENCE + ", was " + sequence);
        }
    }

    /** Frees the name, and returns the target of the redirect that occupied it, or null if there was no redirect. */
    private @Nullable RedirectTarget freeName(EditedDocument document, long firstSequence) {
        requireFirst(firstSequence);
        document.abortReplacement();
        DocumentInfo unfinished = document.evenDeleted();
        if (unfinished != null && unfinished.attributes().importing()) {
            document.abortRestoring(unfinished.id());
        }
        DocumentInfo there = document.evenDeleted();
        RedirectTarget redirect = there == null ? null : there.attributes().movedTo();
        if (redirect != null && replaced != Replaced.NOTHING) {
            document.drop();
            return redirect;
        }
        if (document.info() != null && replaced != Replaced.ANYTHING) {
            throw new DocumentException(Reason.EXISTS, document.name(), "exists, and is not replaced");
        }
        document.delete();
        document.info();
        return null;
    }

    private long add(EditedDocument document, long sequence) {
        EditedDocument imported = imported(document);
        imported.importPart(requireImporting(document, imported).attributes(), values);
        return sequence + values.size();
    }

    private long end(EditedDocument document, long nextSequence) {
        EditedDocument imported = imported(document);
        DocumentAttributes made = requireImporting(document, imported)
                .attributes()
                .with(RESTORING, null)
                .withMovedTo(null)
                .withCopied(nextSequence);
        if (imported != document) {
            document.replaceBy(imported);
        }
        document.importPart(made, List.of());
        return nextSequence;
    }

    /** Applies the changes of the source: values that were appended or trimmed, and its present attributes. */
    private long continueImport(EditedDocument document, long id, long sequence) {
        DocumentInfo info = document.info();
        if (info == null || info.id() != id) {
            throw new DocumentException(
                    Reason.CHANGED, document.name(), "was deleted or replaced since it was imported");
        }
        requireNext(document, info, "continues");
        long next = sequence + values.size();
        // A document that has lost values that the source retains is not a copy, and has no origin.
        Origin origin = info.firstSequence() <= number(FIRST) ? attributes.origin() : null;
        DocumentAttributes continued = info.attributes().with(ORIGIN, origin).withCopied(next);
        document.importPart(continued.withPortable(attributes.raw()), values);
        document.trimTo(number(FIRST));
        return next;
    }

    private static boolean delete(EditedDocument document, long id) {
        DocumentInfo info = document.info();
        return info != null && info.id() == id && document.delete();
    }

    private boolean abort(EditedDocument document, long id) {
        EditedDocument imported = imported(document);
        DocumentInfo info = imported.evenDeleted();
        return info != null && info.attributes().importing() && imported.abortRestoring(id);
    }

    /** Returns the document being imported: either this document or its replacement. */
    private EditedDocument imported(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        return info != null && info.id() == number(ID) ? document : document.replacement();
    }

    private DocumentInfo requireImporting(EditedDocument document, EditedDocument imported) {
        @Nullable DocumentInfo info = imported.evenDeleted();
        if (info == null || info.id() != number(ID) || !info.attributes().importing()) {
            throw new DocumentException(Reason.CHANGED, document.name(), "is no longer being imported");
        }
        requireNext(document, info, "is being imported, and continues");
        return info;
    }

    private void requireNext(EditedDocument document, DocumentInfo info, String what) {
        long sequence = number(SEQUENCE);
        if (info.nextSequence() != sequence) {
            throw new DocumentException(
                    Reason.SEQUENCE_CONFLICT,
                    document.name(),
                    what + " with sequence " + info.nextSequence() + " instead of " + sequence,
                    sequence,
                    info.nextSequence());
        }
    }
}
