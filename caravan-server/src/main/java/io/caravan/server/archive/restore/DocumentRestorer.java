package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentRestoration;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Restores documents from their generations in an archive: creates those that a store lacks, and completes others. A
 * document becomes visible only when its snapshot has been read to the end and verified. Until then, a document that
 * fits one write stays in memory, and a longer one is hidden while it is written. In both cases, about 1 MiB of the
 * document, or one value, is in memory. Thread-safe.
 */
final class DocumentRestorer {
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
     * The generation to restore, and the name and mark of the restored document.
     *
     * @param lasting whether the document loses its expiry, which may have passed
     */
    record Source(Manifest manifest, Generation generation, DocumentName as, Mark mark, boolean lasting) {

        enum Mark {
            /** The mark of the generation: the document continues the archived one. */
            GENERATION,
            /** The mark of a new document, so that the deletion of the archived one is not lost. */
            NEW,
            /** No mark, because the document has another name. */
            NONE
        }

        /**
         * Returns the source for a generation. The document continues the archived one if the generation is its latest
         * state in the archive.
         */
        static Source of(Manifest manifest, Generation generation, boolean lasting) {
            boolean last = manifest.tombstone() == null && generation.equals(manifest.latest());
            return new Source(manifest, generation, manifest.name(), last ? Mark.GENERATION : Mark.NEW, lasting);
        }

        Source asNew() {
            return new Source(manifest, generation, as, Mark.NEW, lasting);
        }

        static Source renamed(Manifest manifest, Generation generation, DocumentName as) {
            return new Source(manifest, generation, as, Mark.NONE, true);
        }

        Attributes attributes(Attributes archived) {
            DocumentAttributes attributes = DocumentAttributes.of(archived);
            return lasting && attributes.expiresAtMillis().isPresent()
                    ? attributes.withoutExpiry().portable()
                    : archived;
        }

        @Nullable
        ArchiveMark mark(Attributes attributes) {
            return switch (mark) {
                case GENERATION -> Archive.mark(generation, DocumentAttributes.of(attributes));
                case NEW -> ArchiveMark.first(RANDOM.nextLong());
                case NONE -> null;
            };
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
     * Restores a generation by the rules of {@link Merge}. Returns when the document has the durability of the service.
     *
     * @param chosen whether the generation is not the latest, or was requested by a user
     */
    Restored restore(Source source, boolean chosen, Local local) {
        Manifest manifest = source.manifest();
        DocumentInfo info = local.info();
        Merge.requireNotDeleted(manifest, chosen, local.deleted(), info);
        if (info == null) {
            return create(local.deleted() ? source.asNew() : source, false);
        }
        return Merge.isNeeded(source, chosen, info)
                ? new Merge(archive, documents, source, info).run()
                : Restored.unchanged(manifest.name(), source.generation(), info);
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
            Outcome.await(outcome -> documents.writeLocal(
                    source.as(),
                    document -> {
                        if (replaces) {
                            document.deleteUnnoted();
                        }
                        document.restore(attributes, mark, generation.firstSequence(), first);
                        return true;
                    },
                    outcome));
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
                // A document that cannot be deleted now is deleted when the store is opened again.
                failed.addSuppressed(second);
            }
            throw failed;
        }
    }

    private void append(DocumentRestoration restoration, List<byte[]> values) {
        restoration.append(values);
        moved.accept(SnapshotParts.bytes(values));
    }
}
