package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.BY_A_CLIENT;
import static io.caravan.server.document.DocumentAttributes.ORIGIN;
import static io.caravan.server.document.DocumentAttributes.RESTORING;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Imports documents from other stores, with their original sequences. An import consists of one write or of several
 * parts; the document is invisible until the last part arrives. Each method runs as part of a write. A method that
 * continues an import checks that the document has not changed since the previous part. If the client disconnects, the
 * unfinished document stays invisible; it is deleted when another import of the name begins or the server restarts.
 */
public final class DocumentImport {
    /**
     * Maximum first sequence of an imported document. This maximum ensures that HTTP offsets have enough digits for all
     * later appends.
     */
    public static final long MAX_FIRST_SEQUENCE = 1_000_000_000_000_000L;

    private DocumentImport() {}

    /** The existing document that an imported document may replace. */
    public enum Replaced {
        /** None: the name must be free. */
        NOTHING,
        /** A redirect left by a move to another server, from which the document is now being moved back. */
        REDIRECT,
        /** Any document or redirect with the name; the write that imports the new document deletes the existing one. */
        ANYTHING
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
    public static long whole(
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
    public static long begin(
            EditedDocument document, DocumentAttributes attributes, long firstSequence, Replaced replaced) {
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
    public static long add(EditedDocument document, long id, long sequence, List<byte[]> values) {
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
    public static long end(EditedDocument document, long id, long nextSequence) {
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
    public static long continueImport(
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
    public static boolean delete(EditedDocument document, long id) {
        DocumentInfo info = document.info();
        return info != null && info.id() == id && document.delete();
    }

    /**
     * Deletes a document whose import has begun but not ended.
     *
     * @return whether it existed
     */
    public static boolean abort(EditedDocument document, long id) {
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
