package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentRestoration;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Restores documents from their generations in an archive: creates those that a store lacks, and completes others. A
 * document becomes visible only when its snapshot has been read to the end and verified. Until then, a document that
 * fits one write stays in memory, and a longer one is hidden while it is written. In both cases, about 1 MiB of the
 * document, or one value, is in memory.
 *
 * <p>Sequences and incarnations alone determine what a restore of a generation under the document's own name does:
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
 *
 * <p>Thread-safe.
 */
final class DocumentRestorer {
    /** The alternative that most rejection messages suggest. */
    static final String AS_ANOTHER = "restore it under another name (AS, --as)";

    private static final SecureRandom RANDOM = new SecureRandom();

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final LongConsumer moved;

    /** @param moved receives the number of bytes whenever values are passed to the store */
    DocumentRestorer(Supplier<Archive> archive, DocumentService documents, LongConsumer moved) {
        this.archive = archive;
        this.documents = documents;
        this.moved = moved;
    }

    /**
     * The generation to restore, and the name of the restored document.
     *
     * @param continues whether the document continues the archived one, and gets the mark of the generation. Otherwise,
     *     it gets the mark of a new document, so that the deletion of the archived one is not lost; under another name,
     *     it gets no mark
     * @param lasting whether the document loses its expiry, which may have passed
     */
    record Source(Manifest manifest, Generation generation, DocumentName as, boolean continues, boolean lasting) {
        static Source of(Manifest manifest, Generation generation, boolean lasting) {
            boolean latest = manifest.tombstone() == null && generation.equals(manifest.latest());
            return new Source(manifest, generation, manifest.name(), latest, lasting);
        }

        Source asNew() {
            return new Source(manifest, generation, as, false, lasting);
        }

        static Source renamed(Manifest manifest, Generation generation, DocumentName as) {
            return new Source(manifest, generation, as, false, true);
        }

        Attributes attributes(Attributes archived) {
            DocumentAttributes attributes = DocumentAttributes.of(archived);
            return lasting && attributes.expiresAtMillis().isPresent()
                    ? attributes.withoutExpiry().portable()
                    : archived;
        }

        @Nullable
        ArchiveMark mark(Attributes attributes) {
            if (!as.equals(manifest.name())) {
                return null;
            }
            return continues
                    ? Archive.mark(generation, DocumentAttributes.of(attributes))
                    : ArchiveMark.first(RANDOM.nextLong());
        }
    }

    /** A document in the store, or null, and whether it has a deletion that may not be archived yet. */
    record Local(@Nullable DocumentInfo info, boolean deleted) {}

    /**
     * Reads the document, then checks whether it has a deletion. The caller must read the manifest afterwards: if the
     * document is deleted in between, one of the results shows the deletion.
     */
    Local local(DocumentName name) {
        DocumentInfo info = documents.peek(name);
        return new Local(info, documents.deletionPending(name));
    }

    /**
     * Restores a generation by the rules above. Returns when the document has the durability of the service.
     *
     * @param chosen whether the generation is not the latest, or was requested by a user
     */
    Restored restore(Source source, boolean chosen, Local local) {
        DocumentInfo info = local.info();
        requireNotDeleted(source.manifest(), chosen, local.deleted(), info);
        if (info == null) {
            return create(local.deleted() ? source.asNew() : source, false);
        }
        return mustAppend(source, chosen, info)
                ? append(source, info)
                : Restored.unchanged(source.as(), source.generation(), info);
    }

    /**
     * Whether values of the generation must be appended to a document. If not, the document has all sequences of the
     * generation, or more.
     *
     * @param chosen whether a user requested this generation, rather than the latest
     * @throws ArchiveException {@code DIVERGED} with what to do instead
     */
    static boolean mustAppend(Source source, boolean chosen, DocumentInfo local) {
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
     * Creates the document in the store. Returns when the document has the durability of the service.
     *
     * @param replaces whether a document of this name is replaced; it stays until the new one is complete. Only for
     *     stores that no server uses, because values that a client appends in the meantime would be lost
     * @throws CaravanException an error of the archive or of the store; nothing has changed
     */
    Restored create(Source source, boolean replaces) {
        Generation generation = source.generation();
        try (SnapshotReader reader = archive.get().read(source.manifest().name(), generation)) {
            SnapshotParts parts = new SnapshotParts(reader);
            List<byte[]> first = parts.next();
            Attributes archived = reader.header().attributes();
            Attributes attributes = source.attributes(archived);
            ArchiveMark mark = source.mark(archived);
            if (!parts.ended()) {
                createInParts(source, replaces, attributes, mark, first, parts);
                return Restored.created(source.as(), generation);
            }
            write(source.as(), document -> {
                if (replaces) {
                    document.deleteUnnoted();
                }
                document.restore(attributes, mark, generation.firstSequence(), first);
            });
            moved.accept(SnapshotParts.bytes(first));
            return Restored.created(source.as(), generation);
        }
    }

    private void createInParts(
            Source source,
            boolean replaces,
            Attributes attributes,
            @Nullable ArchiveMark mark,
            List<byte[]> first,
            SnapshotParts parts) {
        DocumentRestoration restoration = new DocumentRestoration(
                documents, source.as(), source.generation().firstSequence(), replaces);
        try {
            append(restoration, first);
            while (!parts.ended()) {
                append(restoration, parts.next());
            }
            restoration.finish(attributes, mark);
        } catch (RuntimeException failed) {
            try {
                restoration.abort();
            } catch (RuntimeException second) {
                // A document that cannot be deleted now is deleted when the store is opened again. After a failure of
                // the
                // store, both exceptions are the same.
                if (second != failed) {
                    failed.addSuppressed(second);
                }
            }
            throw failed;
        }
    }

    private void append(DocumentRestoration restoration, List<byte[]> values) {
        restoration.append(values);
        moved.accept(SnapshotParts.bytes(values));
    }

    /**
     * Appends to a document those values of a generation that follow its end. Reads the snapshot twice. First, it
     * verifies the snapshot, and compares the values that both the document and the snapshot have. If a value differs,
     * the document has diverged, and nothing is appended. Then it appends the missing values, in one write if they fit.
     *
     * <p>Each write requires that the document still ends where the previous write ended. Therefore, no value appears
     * twice or out of order, regardless of concurrent appends. If a client appends or the process ends between two
     * writes, the document has received only some of the missing values, starting with the first.
     *
     * @param before the document, to which {@link #mustAppend} permits appending
     * @throws DocumentException {@code CHANGED}
     * @throws ArchiveException {@code DIVERGED} when values that both the document and the snapshot have differ
     */
    private Restored append(Source source, DocumentInfo before) {
        compare(source, before);
        long next = before.nextSequence();
        long bytes = 0;
        try (SnapshotReader reader = archive.get().read(source.as(), source.generation())) {
            SnapshotParts parts = new SnapshotParts(reader);
            parts.skipTo(next);
            while (!parts.ended()) {
                List<byte[]> values = parts.next();
                append(
                        source,
                        before.id(),
                        next,
                        values,
                        parts.ended() ? reader.header().attributes() : null);
                next += values.size();
                bytes += SnapshotParts.bytes(values);
            }
        }
        long added = next - before.nextSequence();
        return new Restored(source.as(), source.generation(), before.firstSequence(), next, added, bytes, true);
    }

    private void compare(Source source, DocumentInfo before) {
        DocumentName name = source.as();
        long from = Math.max(before.firstSequence(), source.generation().firstSequence());
        SequenceHash archived = new SequenceHash(from, before.nextSequence(), info -> true);
        SequenceHash here = new SequenceHash(from, before.nextSequence(), info -> {
            if (requireUnchanged(name, before.id(), before.nextSequence(), info).firstSequence() > from) {
                throw changed(name);
            }
            return true;
        });
        if (!documents.snapshot(name, here)) {
            throw changed(name);
        }
        try (SnapshotReader reader = archive.get().read(name, source.generation())) {
            archived.addAll(reader);
        }
        if (!here.finish().equals(archived.finish())) {
            throw new ArchiveException(
                    Reason.DIVERGED,
                    "document '" + name + "' has other values in this store than generation "
                            + source.generation().number() + " between the sequences " + from + " and "
                            + before.nextSequence() + ": it has diverged; " + AS_ANOTHER);
        }
    }

    /** Appends values if the document ends at this sequence; the last write also sets the attributes. */
    private void append(Source source, long id, long sequence, List<byte[]> values, @Nullable Attributes attributes) {
        write(source.as(), document -> {
            DocumentInfo info = requireUnchanged(source.as(), id, sequence, document.info());
            document.appendArchived(values);
            if (attributes != null) {
                ArchiveMark mark = source.continues()
                        ? Archive.mark(source.generation(), DocumentAttributes.of(attributes))
                        : info.attributes().archived();
                DocumentAttributes replaced = info.attributes().withPortable(attributes);
                document.attributes(mark == null ? replaced : replaced.withArchived(mark));
            }
        });
        moved.accept(SnapshotParts.bytes(values));
    }

    private static DocumentInfo requireUnchanged(
            DocumentName name, long id, long nextSequence, @Nullable DocumentInfo info) {
        if (info == null || info.id() != id || info.nextSequence() != nextSequence) {
            throw changed(name);
        }
        return info;
    }

    private static DocumentException changed(DocumentName name) {
        return new DocumentException(
                DocumentException.Reason.CHANGED, name, "was changed while it was being restored; try again");
    }

    private void write(DocumentName name, Consumer<EditedDocument> change) {
        Outcome.<Boolean>await(outcome -> documents.writeLocal(
                name,
                document -> {
                    change.accept(document);
                    return true;
                },
                outcome));
    }
}
