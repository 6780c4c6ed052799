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

    /** Streams a snapshot to a key that nothing has had before. */
    Generation put(SnapshotHeader expected, SnapshotSource source) {
        String key = ArchiveKeys.snapshot(
                expected.name(), expected.generation(), expected.nextSequence(), expected.epoch(), random.nextInt());
        Upload upload = new Upload(expected);
        objects.put(key, out -> upload.write(source, out));
        return upload.generation(key);
    }

    /** What the last call of the source has written; the calls may be on several threads, one after the other. */
    private static final class Upload {
        private final SnapshotHeader expected;
        private volatile @Nullable SnapshotHeader header;
        private volatile SnapshotWriter.@Nullable Written written;

        Upload(SnapshotHeader expected) {
            this.expected = expected;
        }

        void write(SnapshotSource source, OutputStream out) throws IOException {
            One one = new One(out);
            source.writeTo(one);
            if (one.writer == null) {
                throw new IllegalStateException(
                        "the source of a snapshot of '" + expected.name() + "' has not begun it, and not said why");
            }
            written = one.writer.finish();
        }

        Generation generation(String key) {
            SnapshotHeader begun = header;
            SnapshotWriter.Written done = written;
            if (begun == null || done == null) {
                throw new IllegalStateException("the object store has put " + key + " without its content");
            }
            return new Generation(
                    begun.generation(),
                    key,
                    begun.incarnation(),
                    begun.epoch(),
                    begun.firstSequence(),
                    begun.nextSequence(),
                    begun.takenAtMillis(),
                    done.valueBytes(),
                    done.objectBytes(),
                    done.sha256());
        }

        /** One call of the source. */
        private final class One implements SnapshotSource.Target {
            private final OutputStream out;
            private @Nullable SnapshotWriter writer;

            One(OutputStream out) {
                this.out = out;
            }

            @Override
            public SnapshotWriter begin(SnapshotHeader actual) throws IOException {
                check(actual);
                header = actual;
                writer = new SnapshotWriter(out, actual);
                return writer;
            }

            private void check(SnapshotHeader actual) {
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
            }
        }
    }

    /**
     * Opens a snapshot that a manifest names.
     *
     * @throws ArchiveException {@code NOT_FOUND} when it is not there, {@code CORRUPT} when it is not the one that is
     *     named
     */
    SnapshotReader open(DocumentName name, Generation generation) {
        InputStream in;
        try {
            in = objects.open(generation.key());
        } catch (ObjectStoreException problem) {
            throw problem.kind() == ObjectStoreException.Kind.NOT_FOUND ? missing(name, generation, problem) : problem;
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

    private ArchiveException missing(DocumentName name, Generation generation, ObjectStoreException problem) {
        return new ArchiveException(
                Reason.NOT_FOUND,
                "generation " + generation.number() + " of document '" + name + "' has no object " + objects.location()
                        + "/" + generation.key() + ", which its manifest names, unless it has just been pruned: take"
                        + " another generation, or put the object back from a copy",
                problem);
    }
}
