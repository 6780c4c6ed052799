package io.caravan.server.archive.restore;

import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentInfo;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done so that a store has what an archive's generation has of a document under its own name. Decided by
 * sequences and incarnations alone, without a look at values:
 *
 * <table> <caption>The rules, in their order</caption>
 *   <tr><th>the store has</th><th>the archive has</th><th>to do</th></tr>
 *   <tr><td>nothing, or a deletion</td><td>a document, not deleted</td><td>create it</td></tr>
 *   <tr><td>nothing, or a deletion</td><td>a document, deleted</td><td>create it if the generation was chosen, else
 *       refused</td></tr>
 *   <tr><td>another incarnation</td><td>a document</td><td>refused</td></tr>
 *   <tr><td>the same</td><td>no further sequence</td><td>nothing; refused if the generation was chosen</td></tr>
 *   <tr><td>the same, closed</td><td>further sequences</td><td>refused</td></tr>
 *   <tr><td>the same</td><td>further sequences, from above the store's next on</td><td>refused</td></tr>
 *   <tr><td>the same</td><td>further sequences</td><td>append what is lacking</td></tr>
 * </table>
 */
sealed interface MergePlan {

    /** There is no document: it becomes what the generation is. */
    record Create() implements MergePlan {}

    /** The document has what the generation has, or more. */
    record Nothing() implements MergePlan {}

    /** The generation goes on where the document ends. */
    record Append() implements MergePlan {}

    /**
     * The plan.
     *
     * @param chosen whether somebody asked for this generation, rather than for the latest
     * @param deleted whether the store has deleted the document, and the archive may not know
     * @param local what the store has, or null
     * @throws ArchiveException {@code DELETED} or {@code BACK_IN_TIME} with what to do instead
     */
    static MergePlan of(
            Manifest manifest, Generation generation, boolean chosen, boolean deleted, @Nullable DocumentInfo local) {
        if (!chosen) {
            requireThere(manifest, deleted, local);
        }
        if (local == null) {
            return new Create();
        }
        ArchiveMark mark = local.attributes().archived();
        if (mark == null || mark.incarnation() != generation.incarnation()) {
            throw refused(
                    manifest,
                    Reason.BACK_IN_TIME,
                    "is here, and is not the one that was archived as generation " + generation.number()
                            + ", but another one of that name; " + AS_ANOTHER);
        }
        return generation.nextSequence() > local.nextSequence()
                ? appending(manifest, generation, local)
                : notAhead(manifest, generation, chosen, local);
    }

    /**
     * Refuses a document that neither the store nor the archive has any more.
     *
     * @throws ArchiveException {@code DELETED} with the generations that it can be had from
     */
    static void requireThere(Manifest manifest, boolean deleted, @Nullable DocumentInfo local) {
        if (local == null && (deleted || manifest.tombstone() != null)) {
            throw refused(
                    manifest,
                    Reason.DELETED,
                    "was deleted; " + Generations.describe(manifest) + "; to have it back, say which one (AT, --at)");
        }
    }

    /** What to do instead of most that is refused. */
    String AS_ANOTHER = "restore it under another name (AS, --as)";

    private static MergePlan notAhead(Manifest manifest, Generation generation, boolean chosen, DocumentInfo local) {
        if (chosen) {
            throw refused(
                    manifest,
                    Reason.BACK_IN_TIME,
                    "is at sequence " + local.nextSequence()
                            + " here, and generation " + generation.number() + " ends at " + generation.nextSequence()
                            + ": that would go back in time; " + AS_ANOTHER);
        }
        return new Nothing();
    }

    private static MergePlan appending(Manifest manifest, Generation generation, DocumentInfo local) {
        if (local.attributes().closed()) {
            throw refused(
                    manifest,
                    Reason.BACK_IN_TIME,
                    "is closed here at sequence " + local.nextSequence()
                            + ", and generation " + generation.number() + " goes on to " + generation.nextSequence()
                            + "; "
                            + AS_ANOTHER);
        }
        if (generation.firstSequence() > local.nextSequence()) {
            throw refused(
                    manifest,
                    Reason.BACK_IN_TIME,
                    "ends at sequence " + local.nextSequence()
                            + " here, and generation " + generation.number() + " begins at "
                            + generation.firstSequence()
                            + ": nobody has the values in between; " + AS_ANOTHER);
        }
        return new Append();
    }

    private static ArchiveException refused(Manifest manifest, Reason reason, String why) {
        return new ArchiveException(reason, "document '" + manifest.name() + "' " + why);
    }
}
