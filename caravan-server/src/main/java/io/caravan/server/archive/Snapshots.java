package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.SnapshotSource;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.format.SnapshotWriter;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Puts and opens the snapshots of one store. */
final class Snapshots {
    private final ObjectStore objects;
    private final UUID store;
    private final SecureRandom random = new SecureRandom();

    Snapshots(ObjectStore objects, UUID store) {
        this.objects = objects;
        this.store = store;
    }

    /** Streams a snapshot into an object with a new key. */
    Generation put(SnapshotHeader expected, SnapshotSource source) {
        String key = ArchiveKeys.snapshot(
                expected.name(), expected.generation(), expected.nextSequence(), expected.epoch(), random.nextInt());
        // The object store may restart the put on another thread. It then stores the content of the last call.
        AtomicReference<@Nullable Generation> put = new AtomicReference<>();
        objects.put(key, out -> {
            Upload upload = new Upload(expected, out);
            source.writeTo(upload);
            put.set(upload.finish(key));
        });
        Generation generation = put.get();
        if (generation == null) {
            throw new IllegalStateException("the object store has put " + key + " without content");
        }
        return generation;
    }

    /** Uploads the values that one call to {@link SnapshotSource#writeTo} writes. */
    private static final class Upload implements SnapshotSource.Target {
        private final SnapshotHeader expected;
        private final OutputStream out;
        private @Nullable SnapshotHeader header;
        private @Nullable SnapshotWriter writer;

        Upload(SnapshotHeader expected, OutputStream out) {
            this.expected = expected;
            this.out = out;
        }

        @Override
        public SnapshotWriter begin(SnapshotHeader actual) throws IOException {
            if (writer != null
                    || !actual.store().equals(expected.store())
                    || !actual.name().equals(expected.name())
                    || actual.incarnation() != expected.incarnation()
                    || actual.generation() != expected.generation()
                    || actual.epoch() != expected.epoch()
                    || actual.nextSequence() < expected.nextSequence()) {
                throw new IllegalArgumentException("a snapshot begins with " + actual + " where " + expected
                        + (writer != null ? " has begun" : " was expected"));
            }
            header = actual;
            writer = new SnapshotWriter(out, actual);
            return writer;
        }

        Generation finish(String key) throws IOException {
            if (header == null || writer == null) {
                throw new IllegalStateException("the source of a snapshot of '" + expected.name()
                        + "' has neither begun it nor thrown an exception");
            }
            SnapshotWriter.Written written = writer.finish();
            return new Generation(
                    header.generation(),
                    key,
                    header.incarnation(),
                    header.epoch(),
                    header.firstSequence(),
                    header.nextSequence(),
                    header.takenAtMillis(),
                    written.valueBytes(),
                    written.objectBytes(),
                    written.sha256());
        }
    }

    /**
     * Opens a snapshot that a manifest names.
     *
     * @throws ArchiveException {@code NOT_FOUND} when it does not exist, {@code CORRUPT} when it is not this generation
     */
    SnapshotReader open(DocumentName name, Generation generation) {
        InputStream in;
        try {
            in = objects.open(generation.key());
        } catch (ObjectStoreException problem) {
            if (problem.kind() != ObjectStoreException.Kind.NOT_FOUND) {
                throw problem;
            }
            throw new ArchiveException(
                    Reason.NOT_FOUND,
                    "generation " + generation.number() + " of document '" + name + "' has no object "
                            + objects.location() + "/" + generation.key()
                            + ", which its manifest names, unless it has just been pruned: use another generation, or"
                            + " restore the object from a backup",
                    problem);
        }
        SnapshotReader reader = SnapshotReader.open(in, objects.location() + "/" + generation.key());
        try {
            return reader.expect(store, name, generation);
        } catch (RuntimeException another) {
            try (reader) {
                throw another;
            }
        }
    }
}
