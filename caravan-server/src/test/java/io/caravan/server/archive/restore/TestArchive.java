package io.caravan.server.archive.restore;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archive.Snapshot;
import io.caravan.server.archive.Archiving;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.PruneRecord;
import io.caravan.server.archive.Pruning;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;

/** An archive that tests fill with documents, without a server. */
final class TestArchive {
    static final UUID STORE = new UUID(1, 2);
    static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-11-21T18:00:00Z"));

    private final MemoryObjects objects = new MemoryObjects(CLOCK);
    final MemoryObjectStore client = objects.client();
    private final Archive owned;

    TestArchive() {
        owned = Claims.claim(objects.client(), STORE, "test", CLOCK);
    }

    MemoryObjects objects() {
        return objects;
    }

    /** Returns the archive for a restore. Faults of {@link #client} apply to it. */
    Archive open() {
        return Archive.open(client);
    }

    /** Archives a document as its next generation, with values of the form {@code <incarnation>:<sequence>}. */
    Generation put(String name, long incarnation, long first, long next) {
        return put(name, incarnation, first, values(incarnation, first, next), Attributes.EMPTY);
    }

    Generation put(String name, long incarnation, long first, List<byte[]> values, Attributes attributes) {
        return put(owned, DocumentName.of(name), incarnation, first, values, attributes);
    }

    static Generation put(
            Archive archive,
            DocumentName name,
            long incarnation,
            long first,
            List<byte[]> values,
            Attributes attributes) {
        KeptManifest before = archive.manifest(name);
        long generation = before == null ? 1 : before.manifest().lastGeneration() + 1;
        DocumentInfo info = new DocumentInfo(0, first, first + values.size(), DocumentAttributes.of(attributes));
        Snapshot put = archive.putSnapshot(name, info, incarnation, generation, CLOCK, reader -> {
            reader.begin(info);
            for (int i = 0; i < values.size(); i++) {
                reader.next(first + i, ByteBuffer.wrap(values.get(i)));
            }
            return true;
        });
        archive.commit(before, name, put.generation());
        return put.generation();
    }

    /** Commits a tombstone for the document. */
    void delete(String name) {
        DocumentName document = DocumentName.of(name);
        Generation latest = owned.manifest(document).manifest().latest();
        Archiving.delete(owned, new State(document, latest.incarnation(), 0, latest.nextSequence(), CLOCK.millis()));
    }

    /** Removes all generations except the latest one of each document. */
    void prune() {
        PrunePolicy policy = new PrunePolicy(1, Duration.ZERO, 0, PrunePolicy.LEAST_RETAIN);
        long now = CLOCK.millis() + Duration.ofDays(1).toMillis();
        new Pruning(owned, name -> policy, now, false, new PruneRecord()).run(1);
    }

    /** Flips a bit in the middle of an object. */
    void damage(String key) {
        byte[] content = objects.content(key);
        content[content.length / 2] ^= 1;
        objects.put(key, content);
    }

    void cutOff(String key, int bytes) {
        byte[] content = objects.content(key);
        objects.put(key, Arrays.copyOf(content, bytes));
    }

    static String manifestKey(String name) {
        return ArchiveKeys.manifest(DocumentName.of(name));
    }

    /** Returns the values that {@link #put} archives, as text. */
    static List<String> texts(long incarnation, long first, long next) {
        return LongStream.range(first, next)
                .mapToObj(sequence -> incarnation + ":" + sequence)
                .toList();
    }

    static List<byte[]> values(long incarnation, long first, long next) {
        return texts(incarnation, first, next).stream()
                .map(text -> text.getBytes(UTF_8))
                .toList();
    }
}
