package io.caravan.server.archive.restore;

import io.caravan.catalog.Attributes;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Appends to a document those values of a generation that follow the document's end.
 *
 * <p>It reads the snapshot twice. First, it verifies the snapshot, and compares the values that both the document and
 * the snapshot have. If a value differs, the document has diverged, and nothing is appended. Then it appends the
 * missing values, in one write if they fit.
 *
 * <p>Each write requires that the document still ends where the previous write ended. Therefore, no value appears twice
 * or out of order, regardless of concurrent appends. If a client appends or the process ends between two writes, the
 * document has received only some of the missing values, starting with the first.
 *
 * <p>Also decides what a restore of a generation under the document's own name does. Sequences and incarnations alone
 * determine it, without reading values:
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
final class Merge {
    /** The alternative that most rejection messages suggest. */
    static final String AS_ANOTHER = "restore it under another name (AS, --as)";

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final Source source;
    private final DocumentInfo before;

    /** @param before the document before the merge; {@link #isNeeded} permits appending to it */
    Merge(Supplier<Archive> archive, DocumentService documents, Source source, DocumentInfo before) {
        this.archive = archive;
        this.documents = documents;
        this.source = source;
        this.before = before;
    }

    /**
     * Whether values of the generation must be appended to a document. If not, the document has all sequences of the
     * generation, or more.
     *
     * @param chosen whether a user requested this generation, rather than the latest
     * @throws ArchiveException {@code DIVERGED} with what to do instead
     */
    static boolean isNeeded(Source source, boolean chosen, DocumentInfo local) {
        Generation generation = source.generation();
        ArchiveMark mark = local.attributes().archived();
        String archived = "generation " + generation.number();
        String here = "at sequence " + local.nextSequence();
        String why;
        if (mark == null || mark.incarnation() != generation.incarnation()) {
            why = "exists, but is not the one that was archived as " + archived + ": it is another document"
                    + " of that name; ";
        } else if (generation.nextSequence() <= local.nextSequence()) {
            if (!chosen) {
                return false;
            }
            why = "ends " + here + " in this store, and " + archived + " ends at " + generation.nextSequence()
                    + ": that would go back in time; ";
        } else if (local.attributes().closed()) {
            why = "was closed " + here + " in this store, and " + archived + " ends at " + generation.nextSequence()
                    + "; ";
        } else if (generation.firstSequence() > local.nextSequence()) {
            why = "ends " + here + " in this store, and " + archived + " begins at " + generation.firstSequence()
                    + ": the values in between are lost; ";
        } else {
            return true;
        }
        throw new ArchiveException(Reason.DIVERGED, "document '" + source.as() + "' " + why + AS_ANOTHER);
    }

    /**
     * Rejects a document that was deleted and is not in the store, unless a user requested one of its generations.
     *
     * @param deleted whether the store has deleted the document, and the archive may lack the deletion
     * @param local the document in the store, or null
     * @throws ArchiveException {@code DELETED}, with the generations from which the document can be restored
     */
    static void requireNotDeleted(Manifest manifest, boolean chosen, boolean deleted, @Nullable DocumentInfo local) {
        if (!chosen && local == null && (deleted || manifest.tombstone() != null)) {
            throw new ArchiveException(
                    Reason.DELETED,
                    "document '" + manifest.name() + "' was deleted; " + manifest.describeGenerations()
                            + "; to restore it, name one of them (AT, --at)");
        }
    }

    /**
     * Appends the values, and returns when they are durable.
     *
     * @throws DocumentException {@code CHANGED}
     * @throws ArchiveException {@code DIVERGED} when values that both the document and the snapshot have differ; also
     *     the errors of reading the snapshot
     */
    Restored run() {
        compare();
        long next = before.nextSequence();
        long bytes = 0;
        try (SnapshotReader reader = archive.get().read(source.as(), source.generation())) {
            SnapshotParts parts = new SnapshotParts(reader);
            parts.skipTo(next);
            while (!parts.ended()) {
                List<byte[]> values = parts.next();
                append(next, values, parts.ended() ? reader.header().attributes() : null);
                next += values.size();
                bytes += SnapshotParts.bytes(values);
            }
        }
        long added = next - before.nextSequence();
        return new Restored(source.as(), source.generation(), before.firstSequence(), next, added, bytes, true);
    }

    private void compare() {
        long from = Math.max(before.firstSequence(), source.generation().firstSequence());
        SequenceHash archived = new SequenceHash(from, before.nextSequence(), info -> true);
        SequenceHash here = new SequenceHash(from, before.nextSequence(), info -> {
            requireUnchanged(info, before.nextSequence());
            if (info.firstSequence() > from) {
                throw changed();
            }
            return true;
        });
        if (!documents.snapshot(source.as(), here)) {
            throw changed();
        }
        try (SnapshotReader reader = archive.get().read(source.as(), source.generation())) {
            archived.addAll(reader);
        }
        if (!here.finish().equals(archived.finish())) {
            throw new ArchiveException(
                    Reason.DIVERGED,
                    "document '" + source.as() + "' has other values in this store than generation "
                            + source.generation().number() + " between the sequences " + from + " and "
                            + before.nextSequence() + ": it has diverged; " + AS_ANOTHER);
        }
    }

    /** Appends values if the document ends at this sequence; the last write also sets the attributes. */
    private void append(long sequence, List<byte[]> values, @Nullable Attributes attributes) {
        Outcome.<Long>await(outcome -> documents.writeLocal(
                source.as(),
                document -> {
                    DocumentInfo info = requireUnchanged(document.info(), sequence);
                    long first = document.appendArchived(values);
                    if (attributes != null) {
                        setAttributes(document, info, attributes);
                    }
                    return first;
                },
                outcome));
    }

    private void setAttributes(EditedDocument document, DocumentInfo info, Attributes attributes) {
        ArchiveMark mark = source.mark() == Source.Mark.GENERATION
                ? Archive.mark(source.generation(), DocumentAttributes.of(attributes))
                : info.attributes().archived();
        DocumentAttributes replaced = info.attributes().withPortable(attributes);
        document.attributes(mark == null ? replaced : replaced.withArchived(mark));
    }

    private DocumentInfo requireUnchanged(@Nullable DocumentInfo info, long nextSequence) {
        if (info == null || info.id() != before.id() || info.nextSequence() != nextSequence) {
            throw changed();
        }
        return info;
    }

    private DocumentException changed() {
        return new DocumentException(
                DocumentException.Reason.CHANGED, source.as(), "was changed while it was being restored; try again");
    }
}
