package io.caravan.server.archive.restore;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
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
 */
final class Merge {
    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final Source source;
    private final DocumentInfo before;

    /** @param before the document before the merge; {@link MergePlan} permits appending to it */
    Merge(Supplier<Archive> archive, DocumentService documents, Source source, DocumentInfo before) {
        this.archive = archive;
        this.documents = documents;
        this.source = source;
        this.before = before;
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
        try (SnapshotReader reader = archive.get().read(name(), generation())) {
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
        return new Restored(source.as(), generation(), before.firstSequence(), next, added, bytes, true);
    }

    private DocumentName name() {
        return source.manifest().name();
    }

    private Generation generation() {
        return source.generation();
    }

    private void compare() {
        long from = Math.max(before.firstSequence(), generation().firstSequence());
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
        try (SnapshotReader reader = archive.get().read(name(), generation())) {
            while (reader.next()) {
                archived.next(reader.sequence(), reader.value());
            }
        }
        if (!here.finish().equals(archived.finish())) {
            throw new ArchiveException(
                    Reason.DIVERGED,
                    "document '" + name() + "' has other values in this store than generation "
                            + generation().number() + " between the sequences " + from + " and "
                            + before.nextSequence() + ": it has diverged; " + MergePlan.AS_ANOTHER);
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
                ? DocumentRestorer.mark(generation(), attributes)
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
