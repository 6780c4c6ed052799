package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.BY_A_CLIENT;
import static io.caravan.server.document.DocumentAttributes.ORIGIN;
import static io.caravan.server.document.DocumentAttributes.RESTORING;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A step in the import of a document from another store, with its original sequences, requested by a client over any
 * protocol. An import consists of one step or of several; the document is invisible until the last step. A step that
 * continues an import checks that the document has not changed since the previous step. If the client disconnects, the
 * unfinished document stays invisible; it is deleted when another import of the name begins or the server restarts.
 *
 * @param numbers the numeric arguments of the step, in the order of {@link Kind#numbers()}
 * @param replaced the existing document that a new one may replace
 */
public record ImportStep(
        Kind kind, List<Long> numbers, Replaced replaced, DocumentAttributes attributes, List<byte[]> values) {
    /**
     * Maximum first sequence of an imported document. This maximum ensures that HTTP offsets have enough digits for all
     * later appends.
     */
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

    /** The kinds of import steps. */
    public enum Kind {
        /** Imports a complete document in one step. */
        WHOLE(NEXT, true, true, FIRST),
        /** Begins an import by creating an invisible document. */
        BEGIN(ID, true, false, FIRST),
        /** Appends values to a document whose import has begun. */
        ADD(NEXT, false, true, ID, SEQUENCE),
        /** Ends an import by making the document visible. */
        END(NEXT, false, false, ID, SEQUENCE),
        /** Updates an imported document after its source has changed. */
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

        /** Returns the name of the step's result in an HTTP response. */
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

        /** Returns the names of the step's numeric arguments. */
        public List<String> numbers() {
            return numbers;
        }
    }

    public ImportStep {
        numbers = List.copyOf(numbers);
        values = List.copyOf(values);
    }

    /**
     * Performs the step as part of a write.
     *
     * @return a sequence or an id, or whether a document was deleted
     */
    public Object applyTo(EditedDocument document) {
        long first = numbers.get(0);
        return switch (kind) {
            case WHOLE -> whole(document, attributes, first, values, replaced);
            case BEGIN -> begin(document, attributes, first, replaced);
            case ADD -> add(document, first, numbers.get(1), values);
            case END -> end(document, first, numbers.get(1));
            case CONTINUE -> continueImport(document, first, numbers.get(1), numbers.get(2), attributes, values);
            case ABORT -> abort(document, first);
            case DELETE -> delete(document, first);
        };
    }

    /**
     * Imports a complete document in one write.
     *
     * @param attributes the portable attributes
     * @param firstSequence sequence of the first value
     * @param replaced the existing document that the new one may replace
     * @return the sequence after the last value
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code MOVED}, {@code NOT_JSON}
     * @throws IllegalArgumentException when the sequence is out of range
     */
    static long whole(
            EditedDocument document,
            DocumentAttributes attributes,
            long firstSequence,
            List<byte[]> values,
            Replaced replaced) {
        freeName(document, firstSequence, replaced);
        document.importPart(attributes.withStart(firstSequence).withCopied(firstSequence + values.size()), values);
        return firstSequence + values.size();
    }

    /**
     * Creates an invisible document, and deletes any unfinished import with the same name. Until {@link #end}, a
     * redirect stays in effect, and a document to be replaced stays visible and accepts writes.
     *
     * @return the document's id, which identifies the import to the other methods
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code MOVED}
     * @throws IllegalArgumentException when the sequence is out of range
     */
    static long begin(EditedDocument document, DocumentAttributes attributes, long firstSequence, Replaced replaced) {
        requireFirst(firstSequence);
        if (replaced == Replaced.ANYTHING && isVisible(document)) {
            document.requireNoFence();
            EditedDocument staging = document.replacement();
            DocumentInfo unfinished = staging.evenDeleted();
            if (unfinished != null) {
                staging.abortRestoring(unfinished.id());
            }
            return staging.importPart(attributes.withStart(firstSequence).with(RESTORING, BY_A_CLIENT), List.of());
        }
        RedirectTarget redirect = freeName(document, firstSequence, replaced);
        return document.importPart(
                attributes.withStart(firstSequence).with(RESTORING, BY_A_CLIENT).withMovedTo(redirect), List.of());
    }

    private static void requireFirst(long sequence) {
        if (sequence < 0 || sequence > MAX_FIRST_SEQUENCE) {
            throw new IllegalArgumentException(
                    "the first sequence must be from 0 to " + MAX_FIRST_SEQUENCE + ", was " + sequence);
        }
    }

    private static boolean isVisible(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        return info != null && info.attributes().visible();
    }

    /** Frees the name, and returns the target of the redirect that occupied it, or null if there was no redirect. */
    private static @Nullable RedirectTarget freeName(EditedDocument document, long firstSequence, Replaced replaced) {
        requireFirst(firstSequence);
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

    /**
     * Appends values to a document whose import has begun.
     *
     * @param sequence the sequence of the first value
     * @return the sequence after the last value
     * @throws DocumentException {@code CHANGED}, {@code SEQUENCE_CONFLICT}, {@code NOT_JSON}
     */
    static long add(EditedDocument document, long id, long sequence, List<byte[]> values) {
        EditedDocument imported = imported(document, id);
        DocumentInfo info = requireImporting(document, imported, id, sequence);
        imported.importPart(info.attributes(), values);
        return sequence + values.size();
    }

    /**
     * Ends the import of a document, and makes the document visible.
     *
     * @param nextSequence the sequence after the last value
     * @return this sequence
     * @throws DocumentException {@code CHANGED}, {@code SEQUENCE_CONFLICT}
     */
    static long end(EditedDocument document, long id, long nextSequence) {
        EditedDocument imported = imported(document, id);
        DocumentInfo info = requireImporting(document, imported, id, nextSequence);
        DocumentAttributes made =
                info.attributes().with(RESTORING, null).withMovedTo(null).withCopied(nextSequence);
        if (imported == document) {
            document.importPart(made, List.of());
        } else {
            document.replaceBy(imported, made);
        }
        return nextSequence;
    }

    /**
     * Updates an imported document after its source has changed: values were appended or trimmed, or attributes were
     * modified.
     *
     * @param sequence the sequence of the first value
     * @param firstSequence the first sequence to retain; earlier values are trimmed
     * @param portable the source's attributes, of which only the portable ones and the origin are used
     * @return the sequence after the last value
     * @throws DocumentException {@code CHANGED}, {@code SEQUENCE_CONFLICT}, {@code NOT_JSON}, {@code
     *     HAS_FORKS}
     */
    static long continueImport(
            EditedDocument document,
            long id,
            long sequence,
            long firstSequence,
            DocumentAttributes portable,
            List<byte[]> values) {
        DocumentInfo info = document.info();
        if (info == null || info.id() != id) {
            throw new DocumentException(
                    Reason.CHANGED, document.name(), "was deleted or replaced since it was imported");
        }
        requireNext(document, info, sequence, "continues");
        long next = sequence + values.size();
        DocumentAttributes attributes =
                info.attributes().with(ORIGIN, portable.origin()).withCopied(next);
        document.importPart(attributes.withPortable(portable.raw()), values);
        document.trimTo(firstSequence);
        return next;
    }

    /**
     * Deletes an imported document, if it still has this id.
     *
     * @return whether it was deleted
     */
    static boolean delete(EditedDocument document, long id) {
        DocumentInfo info = document.info();
        return info != null && info.id() == id && document.delete();
    }

    /**
     * Deletes a document whose import has begun but not ended.
     *
     * @return whether it existed
     */
    static boolean abort(EditedDocument document, long id) {
        EditedDocument imported = imported(document, id);
        DocumentInfo info = imported.evenDeleted();
        return info != null && info.attributes().importing() && imported.abortRestoring(id);
    }

    /** Returns the document being imported: either this document or its replacement. */
    private static EditedDocument imported(EditedDocument document, long id) {
        DocumentInfo info = document.evenDeleted();
        return info != null && info.id() == id ? document : document.replacement();
    }

    private static DocumentInfo requireImporting(
            EditedDocument document, EditedDocument imported, long id, long nextSequence) {
        DocumentName name = document.name();
        @Nullable DocumentInfo info = imported.evenDeleted();
        if (info == null || info.id() != id || !info.attributes().importing()) {
            throw new DocumentException(Reason.CHANGED, name, "is no longer being imported");
        }
        requireNext(document, info, nextSequence, "is being imported, and continues");
        return info;
    }

    private static void requireNext(EditedDocument document, DocumentInfo info, long nextSequence, String what) {
        if (info.nextSequence() != nextSequence) {
            throw new DocumentException(
                    Reason.SEQUENCE_CONFLICT,
                    document.name(),
                    what + " with sequence " + info.nextSequence() + " instead of " + nextSequence,
                    nextSequence,
                    info.nextSequence());
        }
    }
}
