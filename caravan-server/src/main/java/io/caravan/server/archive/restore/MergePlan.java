package io.caravan.server.archive.restore;

import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentInfo;
import org.jspecify.annotations.Nullable;

/**
 * The plan for restoring an archived generation of a document to a store under the document's own name. Sequences and
 * incarnations alone determine it, without reading values:
 *
 * <table> <caption>The rules, in their order</caption>
 *   <tr><th>the store has</th><th>the archive has</th><th>to do</th></tr>
 *   <tr><td>nothing, or a deletion</td><td>a document, not deleted</td><td>create it</td></tr>
 *   <tr><td>nothing, or a deletion</td><td>a document, deleted</td><td>create it if the generation was chosen, else
 *       rejected</td></tr>
 *   <tr><td>another incarnation</td><td>a document</td><td>rejected</td></tr>
 *   <tr><td>the same</td><td>no further sequence</td><td>nothing; rejected if the generation was chosen</td></tr>
 *   <tr><td>the same, closed</td><td>further sequences</td><td>rejected</td></tr>
 *   <tr><td>the same</td><td>further sequences that start above the store's next</td><td>rejected</td></tr>
 *   <tr><td>the same</td><td>further sequences</td><td>append the missing values</td></tr>
 * </table>
 */
enum MergePlan {
    /** The store has no document: create it from the generation. */
    CREATE,
    /** The document has all sequences of the generation, or more. */
    NOTHING,
    /** The generation continues where the document ends. */
    APPEND;

    /** The alternative that most rejection messages suggest. */
    static final String AS_ANOTHER = "restore it under another name (AS, --as)";

    /**
     * Returns the plan for a generation.
     *
     * @param chosen whether a user requested this generation, rather than the latest
     * @param deleted whether the store has deleted the document, and the archive may lack the deletion
     * @param local the document in the store, or null
     * @throws ArchiveException {@code DELETED} or {@code DIVERGED} with what to do instead
     */
    static MergePlan of(
            Manifest manifest, Generation generation, boolean chosen, boolean deleted, @Nullable DocumentInfo local) {
        if (!chosen) {
            requireNotDeleted(manifest, deleted, local);
        }
        if (local == null) {
            return CREATE;
        }
        ArchiveMark mark = local.attributes().archived();
        String archived = "generation " + generation.number();
        String here = "at sequence " + local.nextSequence();
        if (mark == null || mark.incarnation() != generation.incarnation()) {
            String other = "exists, but is not the one that was archived as " + archived + ": it is another document"
                    + " of that name; ";
            throw backInTime(manifest, other);
        }
        if (generation.nextSequence() <= local.nextSequence()) {
            if (chosen) {
                String back = "ends " + here + " in this store, and " + archived + " ends at "
                        + generation.nextSequence() + ": that would go back in time; ";
                throw backInTime(manifest, back);
            }
            return NOTHING;
        }
        if (local.attributes().closed()) {
            String closed = "was closed " + here + " in this store, and " + archived + " ends at "
                    + generation.nextSequence() + "; ";
            throw backInTime(manifest, closed);
        }
        if (generation.firstSequence() > local.nextSequence()) {
            String gap = "ends " + here + " in this store, and " + archived + " begins at " + generation.firstSequence()
                    + ": the values in between are lost; ";
            throw backInTime(manifest, gap);
        }
        return APPEND;
    }

    /**
     * Rejects a document that was deleted and is not in the store.
     *
     * @throws ArchiveException {@code DELETED}, with the generations from which the document can be restored
     */
    static void requireNotDeleted(Manifest manifest, boolean deleted, @Nullable DocumentInfo local) {
        if (local == null && (deleted || manifest.tombstone() != null)) {
            throw new ArchiveException(
                    Reason.DELETED,
                    "document '" + manifest.name() + "' was deleted; " + manifest.describeGenerations()
                            + "; to restore it, name one of them (AT, --at)");
        }
    }

    private static ArchiveException backInTime(Manifest manifest, String why) {
        return new ArchiveException(Reason.DIVERGED, "document '" + manifest.name() + "' " + why + AS_ANOTHER);
    }
}
