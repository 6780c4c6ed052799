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

    /** Of what a document takes the place that comes. */
    public enum Replaced {
        /** Of nothing: the name must be free. */
        NOTHING,
        /** Of a redirect to where a document of this name was moved, as it comes back. */
        REDIRECT,
        /** Of whatever has the name, which is deleted in the same change. */
        ANYTHING
    }

    /**
     * Creates a document.
     *
     * @param attributes the portable ones
     * @param firstSequence sequence that the first value gets
     * @param replaced of what it may take the place
     * @return the sequence after that of the last value
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code MOVED}, {@code NOT_JSON}
     * @throws IllegalArgumentException when the sequence is out of range
     */
    public static long whole(
            EditedDocument document,
            DocumentAttributes attributes,
            long firstSequence,
            List<byte[]> values,
            Replaced replaced) {
        makeRoom(document, firstSequence, replaced);
        document.bring(attributes.withStart(firstSequence).withBrought(firstSequence + values.size()), values);
        return firstSequence + values.size();
    }

    /**
     * Creates a document that nobody sees, in place of one of the name whose import was not ended. A redirect goes on to
     * lead clients elsewhere, and a document that is replaced stays as it is and may change, until it is ended.
     *
     * @return the document's id, which the other parts name
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}, {@code MOVED}
     * @throws IllegalArgumentException when the sequence is out of range
     */
    public static long begin(
            EditedDocument document, DocumentAttributes attributes, long firstSequence, Replaced replaced) {
        requireFirst(firstSequence);
        if (replaced == Replaced.ANYTHING && isVisible(document)) {
            document.requireNoFence();
            EditedDocument beside = document.beside();
            DocumentInfo unfinished = beside.evenDeleted();
            if (unfinished != null) {
                beside.abortRestoring(unfinished.id());
            }
            return beside.bring(attributes.withStart(firstSequence).withImporting(), List.of());
        }
        Whereabouts redirect = makeRoom(document, firstSequence, replaced);
        return document.bring(
                attributes.withStart(firstSequence).withImporting().withMovedTo(redirect), List.of());
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

    /** Frees the name; returns where the redirect led to that had it, or null. */
    private static @Nullable Whereabouts makeRoom(EditedDocument document, long firstSequence, Replaced replaced) {
        requireFirst(firstSequence);
        DocumentInfo unfinished = document.evenDeleted();
        if (unfinished != null && unfinished.attributes().importing()) {
            document.abortRestoring(unfinished.id());
        }
        DocumentInfo there = document.evenDeleted();
        Whereabouts redirect = there == null ? null : there.attributes().movedTo();
        if (redirect != null && replaced != Replaced.NOTHING) {
            document.removeRedirect();
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
     * Appends to a document that was begun.
     *
     * @param sequence that the first of the values gets
     * @return the sequence after that of the last value
     * @throws DocumentException {@code CHANGED_MEANWHILE}, {@code SEQUENCE_CONFLICT}, {@code NOT_JSON}
     */
    public static long add(EditedDocument document, long id, long sequence, List<byte[]> values) {
        EditedDocument coming = coming(document, id);
        DocumentInfo info = begun(document, coming, id, sequence);
        coming.bring(info.attributes(), values);
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
        EditedDocument coming = coming(document, id);
        DocumentInfo info = begun(document, coming, id, nextSequence);
        DocumentAttributes made =
                info.attributes().withoutImporting().withMovedTo(null).withBrought(nextSequence);
        if (coming == document) {
            document.bring(made, List.of());
        } else {
            document.replaceBy(coming, made);
        }
        return nextSequence;
    }

    /**
     * Brings a document up to date that was brought before: it goes on, or has become shorter, or something else beside
     * its values, where it came from.
     *
     * @param sequence that the first of the values gets
     * @param firstSequence the values before are dropped
     * @param portable its attributes, of which only the portable ones and the origin are used
     * @return the sequence after that of the last value
     * @throws DocumentException {@code CHANGED_MEANWHILE}, {@code SEQUENCE_CONFLICT}, {@code NOT_JSON}, {@code HAS_FORKS}
     */
    public static long goOn(
            EditedDocument document,
            long id,
            long sequence,
            long firstSequence,
            DocumentAttributes portable,
            List<byte[]> values) {
        DocumentInfo info = document.info();
        if (info == null || info.id() != id) {
            throw new DocumentException(
                    Reason.CHANGED_MEANWHILE, document.name(), "is not the one any more that is to go on");
        }
        requireNext(document, info, sequence, "goes on");
        long next = sequence + values.size();
        DocumentAttributes attributes =
                info.attributes().withOrigin(portable.origin()).withBrought(next);
        document.bringOn(attributes, values, portable, firstSequence);
        return next;
    }

    /**
     * Deletes a document that was brought, if it is still that one.
     *
     * @return whether it was there
     */
    public static boolean delete(EditedDocument document, long id) {
        DocumentInfo info = document.info();
        return info != null && info.id() == id && document.delete();
    }

    /**
     * Deletes a document that was begun.
     *
     * @return whether it was there
     */
    public static boolean abort(EditedDocument document, long id) {
        EditedDocument coming = coming(document, id);
        DocumentInfo info = coming.evenDeleted();
        return info != null && info.attributes().importing() && coming.abortRestoring(id);
    }

    /** What was begun with this id: it has the name, or is beside the document that it replaces. */
    private static EditedDocument coming(EditedDocument document, long id) {
        DocumentInfo info = document.evenDeleted();
        return info != null && info.id() == id ? document : document.beside();
    }

    private static DocumentInfo begun(EditedDocument document, EditedDocument coming, long id, long nextSequence) {
        DocumentName name = document.name();
        @Nullable DocumentInfo info = coming.evenDeleted();
        if (info == null || info.id() != id || !info.attributes().importing()) {
            throw new DocumentException(Reason.CHANGED_MEANWHILE, name, "is not being imported any more");
        }
        requireNext(document, info, nextSequence, "is being imported, and goes on");
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
