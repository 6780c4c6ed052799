package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive.SnapshotSource;
import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotWriter;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SnapshotReceiver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The values of a document, as the source of a snapshot. A put that starts over reads them again, as they are then. */
final class DocumentSnapshot implements SnapshotSource {
    private final DocumentService documents;
    private final InstantSource clock;
    private final long id;
    private final SnapshotHeader expected;
    private volatile @Nullable DocumentInfo taken;

    /**
     * A snapshot that is not taken yet.
     *
     * @param id the document's, which no other of its name has
     * @param expected what the document is now; it may go on
     */
    DocumentSnapshot(DocumentService documents, InstantSource clock, long id, SnapshotHeader expected) {
        this.documents = documents;
        this.clock = clock;
        this.id = id;
        this.expected = expected;
    }

    /** The document was deleted meanwhile. */
    static final class GoneException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        GoneException() {
            super("the document was deleted while it was being archived", null, false, false);
        }
    }

    SnapshotHeader expected() {
        return expected;
    }

    /** What the document was when its values were written last. */
    DocumentInfo taken() {
        return Objects.requireNonNull(taken);
    }

    @Override
    public void writeTo(Target target) throws IOException {
        Receiver receiver = new Receiver(target);
        try {
            if (!documents.snapshot(expected.name(), receiver) || receiver.writer == null) {
                throw new GoneException();
            }
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        }
    }

    private SnapshotHeader header(DocumentInfo info) {
        return new SnapshotHeader(
                expected.store(),
                expected.name(),
                expected.incarnation(),
                expected.generation(),
                expected.epoch(),
                info.firstSequence(),
                info.nextSequence(),
                clock.millis(),
                info.attributes().portable());
    }

    /** Passes on one moment's values. */
    private final class Receiver implements SnapshotReceiver {
        private final Target target;
        private @Nullable SnapshotWriter writer;

        Receiver(Target target) {
            this.target = target;
        }

        @Override
        public boolean begin(DocumentInfo info) {
            if (info.id() != id) {
                return false;
            }
            try {
                writer = target.begin(header(info));
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            taken = info;
            return true;
        }

        @Override
        public void next(long sequence, ByteBuffer value) {
            try {
                Objects.requireNonNull(writer).add(sequence, value);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}
