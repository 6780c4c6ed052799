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
import io.caravan.server.document.DocumentRestoration;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Creates documents that a store lacks from an archive's generations. A document is visible only once its snapshot was
 * read to its end and found to be what was written: one that fits a batch is in memory until then, a longer one is
 * written as it comes to where nobody sees it. Either way some 1 MiB of it, or one value, is in memory. Any number of
 * threads may use it.
 */
final class DocumentRestorer {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final LongConsumer moved;

    /** @param moved gets the number of bytes whenever values were handed to the store */
    DocumentRestorer(Supplier<Archive> archive, DocumentService documents, LongConsumer moved) {
        this.archive = archive;
        this.documents = documents;
        this.moved = moved;
    }

    /**
     * What a document is to be restored from.
     *
     * @param as the document's name in the store
     * @param mark what the document knows of the archive
     * @param lasting whether the document loses its expiry, which may have passed
     */
    record Source(Manifest manifest, Generation generation, DocumentName as, Mark mark, boolean lasting) {

        enum Mark {
            /** It goes on as the one that was archived. */
            GENERATION,
            /** It is a new one, so that its deletion is not forgotten. */
            NEW,
            /** Nothing, as it has another name. */
            NONE
        }

        /** A document that goes on as the one that was archived if this is the last that the archive knows of it. */
        static Source of(Manifest manifest, Generation generation) {
            boolean last = manifest.tombstone() == null && generation.equals(manifest.latest());
            return new Source(manifest, generation, manifest.name(), last ? Mark.GENERATION : Mark.NEW, false);
        }

        Source asNew() {
            return new Source(manifest, generation, as, Mark.NEW, lasting);
        }

        /** The same without an expiry, for a document that somebody asked for. */
        Source forEver() {
            return new Source(manifest, generation, as, mark, true);
        }

        static Source renamed(Manifest manifest, Generation generation, DocumentName as) {
            return new Source(manifest, generation, as, Mark.NONE, true);
        }

        /** The document's attributes, of those that the snapshot has. */
        Attributes attributes(Attributes archived) {
            DocumentAttributes attributes = DocumentAttributes.of(archived);
            return lasting && attributes.expiresAtMillis().isPresent()
                    ? attributes.withoutExpiry().portable()
                    : archived;
        }

        @Nullable
        ArchiveMark mark(Attributes attributes) {
            return switch (mark) {
                case GENERATION -> DocumentRestorer.mark(generation, attributes);
                case NEW -> ArchiveMark.first(RANDOM.nextLong());
                case NONE -> null;
            };
        }
    }

    /** The mark of a document that is what the generation is. */
    static ArchiveMark mark(Generation generation, Attributes attributes) {
        return new ArchiveMark(
                generation.incarnation(),
                generation.number(),
                generation.firstSequence(),
                generation.nextSequence(),
                generation.takenAtMillis(),
                DocumentAttributes.of(attributes).portableHash());
    }

    /**
     * Creates the document. Reads on the calling thread, which waits; the outcome is reported when the document is
     * durable, or refused by the store.
     *
     * @throws CaravanException of the archive, and of the store when the document is long; nothing has changed
     */
    void create(Source source, Outcome<Restored> outcome) {
        Generation generation = source.generation();
        Restored restored = Restored.created(source.as(), generation);
        try (SnapshotReader reader = archive.get().read(source.manifest().name(), generation)) {
            SnapshotParts parts = new SnapshotParts(reader);
            List<byte[]> first = parts.next();
            if (parts.ended()) {
                createAtOnce(source, reader.header().attributes(), first, restored, outcome);
            } else {
                createInParts(source, reader.header().attributes(), first, parts);
                outcome.success(restored);
            }
        }
    }

    private void createAtOnce(
            Source source, Attributes attributes, List<byte[]> values, Restored restored, Outcome<Restored> outcome) {
        ArchiveMark mark = source.mark(attributes);
        documents.writeLocal(
                source.as(),
                document -> {
                    document.restore(source.attributes(attributes), mark, restored.firstSequence(), values);
                    return restored;
                },
                outcome);
        moved.accept(SnapshotParts.bytes(values));
    }

    private void createInParts(Source source, Attributes attributes, List<byte[]> first, SnapshotParts parts) {
        DocumentRestoration restoration =
                documents.restoration(source.as(), source.generation().firstSequence());
        try {
            append(restoration, first);
            while (!parts.ended()) {
                append(restoration, parts.next());
            }
            restoration.finish(source.attributes(attributes), source.mark(attributes));
        } catch (RuntimeException failed) {
            try {
                restoration.abort();
            } catch (RuntimeException second) {
                // A document that cannot be deleted now is when the store is opened again.
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
