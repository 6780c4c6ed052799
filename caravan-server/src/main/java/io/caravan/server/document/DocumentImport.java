package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Documents that a client brings from elsewhere, with the sequences that they have there: in one change, or in parts, and
 * then invisible until the last. Each method is part of a change, and checks that what it continues is what it was. A
 * document whose client went away stays invisible until somebody begins the name's import anew, or the server starts.
 */
public final class DocumentImport {
    /** Greatest first sequence: whatever is appended, an offset over HTTP has digits enough for it. */
    public static final long MAX_FIRST_SEQUENCE = 1_000_000_000_000_000L;

    private DocumentImport() {}

    /**
     * Creates a document.
     *
     * @param attributes the portable ones
     * @param firstSequence sequence that the first value gets
     * @param replace whether a document of this name is deleted in the same change
     * @return the sequence after that of the last value
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code NOT_JSON}
     * @throws IllegalArgumentException when the sequence is out of range
     */
    public static long whole(
            EditedDocument document,
            DocumentAttributes attributes,
            long firstSequence,
            List<byte[]> values,
            boolean replace) {
        makeRoom(document, firstSequence, replace);
        document.bring(attributes.withStart(firstSequence), values);
        return firstSequence + values.size();
    }

    /**
     * Creates a document that nobody sees, in place of one of the name whose import was not ended.
     *
     * @return the document's id, which the other parts name
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}
     * @throws IllegalArgumentException when the sequence is out of range
     */
    public static long begin(
            EditedDocument document, DocumentAttributes attributes, long firstSequence, boolean replace) {
        makeRoom(document, firstSequence, replace);
        return document.bring(attributes.withStart(firstSequence).withImporting(), List.of());
    }

    private static void makeRoom(EditedDocument document, long firstSequence, boolean replace) {
        if (firstSequence < 0 || firstSequence > MAX_FIRST_SEQUENCE) {
            throw new IllegalArgumentException(
                    "the first sequence must be from 0 to " + MAX_FIRST_SEQUENCE + ", was " + firstSequence);
        }
        DocumentInfo unfinished = document.evenDeleted();
        if (unfinished != null && unfinished.attributes().importing()) {
            document.abortRestoring(unfinished.id());
        }
        if (document.info() != null && !replace) {
            throw new DocumentException(Reason.EXISTS, document.name(), "exists, and is not replaced");
        }
        document.delete();
        document.info();
    }

    /**
     * Appends to a document that was begun.
     *
     * @param sequence that the first of the values gets
     * @return the sequence after that of the last value
     * @throws DocumentException {@code CHANGED_MEANWHILE}, {@code SEQUENCE_CONFLICT}, {@code NOT_JSON}
     */
    public static long add(EditedDocument document, long id, long sequence, List<byte[]> values) {
        DocumentInfo info = begun(document, id, sequence);
        document.bring(info.attributes(), values);
        return sequence + values.size();
    }

    /**
     * Makes a document visible that was begun.
     *
     * @param nextSequence the sequence after that of its last value
     * @return this sequence
     * @throws DocumentException {@code CHANGED_MEANWHILE}, {@code SEQUENCE_CONFLICT}
     */
    public static long end(EditedDocument document, long id, long nextSequence) {
        DocumentInfo info = begun(document, id, nextSequence);
        document.bring(info.attributes().withoutImporting(), List.of());
        return nextSequence;
    }

    /**
     * Deletes a document that was begun.
     *
     * @return whether it was there
     */
    public static boolean abort(EditedDocument document, long id) {
        DocumentInfo info = document.evenDeleted();
        return info != null && info.attributes().importing() && document.abortRestoring(id);
    }

    private static DocumentInfo begun(EditedDocument document, long id, long nextSequence) {
        DocumentName name = document.name();
        @Nullable DocumentInfo info = document.evenDeleted();
        if (info == null || info.id() != id || !info.attributes().importing()) {
            throw new DocumentException(Reason.CHANGED_MEANWHILE, name, "is not being imported any more");
        }
        if (info.nextSequence() != nextSequence) {
            throw new DocumentException(
                    Reason.SEQUENCE_CONFLICT,
                    name,
                    "is being imported, and goes on with sequence " + info.nextSequence() + " instead of "
                            + nextSequence,
                    nextSequence,
                    info.nextSequence());
        }
        return info;
    }
}
