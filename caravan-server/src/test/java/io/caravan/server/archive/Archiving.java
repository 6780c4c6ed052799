package io.caravan.server.archive;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Archives documents without a server. Each value is text that names its document, incarnation, and sequence. */
public final class Archiving {
    private Archiving() {}

    /** The state of a document to archive. */
    public record State(
            DocumentName name, long incarnation, long firstSequence, long nextSequence, long takenAtMillis) {
        public State(String name, long incarnation, long firstSequence, long nextSequence, long takenAtMillis) {
            this(DocumentName.of(name), incarnation, firstSequence, nextSequence, takenAtMillis);
        }

        /** Returns the state as that of the document with the id 0. */
        DocumentInfo info() {
            Attributes attributes = Attributes.EMPTY.with("k", new byte[] {1});
            return new DocumentInfo(0, firstSequence, nextSequence, DocumentAttributes.of(attributes));
        }

        /** Puts a snapshot that becomes this generation once it is committed, of what the source then provides. */
        Generation put(Archive archive, long generation, State later, Predicate<DocumentReader> source) {
            return archive.putSnapshot(
                            name,
                            info(),
                            incarnation,
                            generation,
                            InstantSource.fixed(Instant.ofEpochMilli(later.takenAtMillis)),
                            source)
                    .generation();
        }

        boolean read(DocumentReader reader) {
            reader.begin(info());
            for (long sequence = firstSequence; sequence < nextSequence; sequence++) {
                reader.next(sequence, ByteBuffer.wrap(value(sequence)));
            }
            return true;
        }

        byte[] value(long sequence) {
            return (name + "/" + incarnation + "/" + sequence).getBytes(UTF_8);
        }
    }

    /** Puts a snapshot and commits it, without retries. */
    public static KeptManifest archive(Archive archive, State state) {
        KeptManifest before = archive.manifest(state.name());
        return archive.commit(before, state.name(), put(archive, before, state));
    }

    /** Puts a snapshot that becomes the next generation once it is committed. */
    public static Generation put(Archive archive, @Nullable KeptManifest before, State state) {
        long generation = before == null ? 1 : before.manifest().lastGeneration() + 1;
        return state.put(archive, generation, state, state::read);
    }

    /** Commits a tombstone. */
    public static KeptManifest delete(Archive archive, State state) {
        KeptManifest before = archive.manifest(state.name());
        Tombstone tombstone = new Tombstone(state.incarnation(), state.nextSequence(), state.takenAtMillis());
        return archive.commit(before, state.name(), tombstone);
    }

    /** Returns the values of a snapshot as text. */
    public static List<String> read(Archive archive, DocumentName name, Generation generation) {
        List<String> values = new ArrayList<>();
        try (SnapshotReader reader = archive.read(name, generation)) {
            while (reader.next()) {
                values.add(UTF_8.decode(reader.value()).toString());
            }
        }
        return values;
    }
}
