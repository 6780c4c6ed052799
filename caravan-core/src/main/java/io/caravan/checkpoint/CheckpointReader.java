package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.CorruptStoreException;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a checkpoint file. Before the contents are used, the conditions in docs/internals/file-format.md under
 * "Validity of a checkpoint" are checked, in their order.
 */
public final class CheckpointReader implements AutoCloseable {

    /** Receives the lists of a checkpoint, partition by partition, in the order in which they were written. */
    public interface Visitor {
        /** A visitor that ignores all contents. Used to check a checkpoint. */
        Visitor NONE = new Visitor() {
            @Override
            public void partition(int partition, long captureLsn) {}

            @Override
            public void piece(
                    long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {}
        };

        /** Visits a section of a partition that was captured at this LSN. */
        void partition(int partition, long captureLsn);

        /** Visits a list or a piece of a list, whose regions start at index {@code at} of the buffer. */
        void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count);
    }

    private final StoreFile file;
    private final CheckpointHeader header;
    private final long fileBytes;
    private @Nullable CheckpointSections sections;

    /** Opens a checkpoint and checks conditions 1 to 4 of a valid checkpoint. */
    public CheckpointReader(Storage storage, long number) throws IOException {
        file = storage.open(FileNames.CHECKPOINT.of(number));
        try {
            ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.read(bytes, 0);
            header = CheckpointHeader.decode(bytes.flip(), number, file.path());
            fileBytes = bytes.getLong(FILE_BYTES);
            if (fileBytes != file.size()) {
                throw corrupt(file.size(), "is " + file.size() + " bytes long, should be " + fileBytes);
            }
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    public CheckpointHeader header() {
        return header;
    }

    public long fileBytes() {
        return fileBytes;
    }

    public String path() {
        return file.path();
    }

    /**
     * Visits every section and piece, checking conditions 5 to 7. If this throws an exception, discard everything
     * visited.
     */
    public void read(Visitor visitor) throws IOException {
        Tally tally = new Tally(visitor);
        sections = new CheckpointSections(file, header.partitions(), tally);
        sections.visit();
        tally.check();
    }

    /** Returns the exception that a visitor must throw if it cannot use the visited piece. */
    public CorruptStoreException corruptPiece(String problem) {
        return corrupt(sections == null ? 0 : sections.offset(), problem);
    }

    private CorruptStoreException corrupt(long offset, String problem) {
        return new CorruptStoreException(file.path(), offset, problem);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** The fields that all pieces of one list have in common. */
    private record Head(long id, long creationLsn, long first, long next) {}

    /** Compares the contents with the totals in the header, and passes the contents to another visitor. */
    private final class Tally implements CheckpointSections.Visitor {
        private final Visitor visitor;
        private final BitSet partitions = new BitSet();
        private Head last = new Head(0, 0, 0, 0);
        private long missing;
        private long lists;
        private long entries;

        Tally(Visitor visitor) {
            this.visitor = visitor;
        }

        @Override
        public void damaged(long offset, String problem) {
            throw corrupt(offset, problem);
        }

        @Override
        public void partition(int partition, long captureLsn) {
            if (captureLsn < header.startLsn() || captureLsn > header.endLsn()) {
                throw corruptPiece("says that it was captured at LSN " + captureLsn);
            }
            partitions.set(partition);
            visitor.partition(partition, captureLsn);
        }

        @Override
        public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
            Head head = new Head(id, creationLsn, first, next);
            if (missing == 0) {
                last = head;
                missing = next - first;
                lists++;
            }
            if (!head.equals(last) || count > missing) {
                throw corruptPiece("the pieces of document " + last.id() + " do not fit together");
            }
            missing -= count;
            entries += count;
            visitor.piece(id, creationLsn, first, next, regions, at, count);
        }

        void check() {
            if (missing > 0
                    || lists != header.lists()
                    || entries != header.entries()
                    || partitions.cardinality() != header.partitions()) {
                throw corrupt(
                        fileBytes,
                        "holds " + lists + " lists, " + entries + " entries and " + partitions.cardinality()
                                + " partitions, should hold " + header.lists() + ", " + header.entries() + " and "
                                + header.partitions());
            }
        }
    }
}
