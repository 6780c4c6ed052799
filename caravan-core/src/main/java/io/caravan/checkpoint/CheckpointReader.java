package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads an intact or damaged checkpoint file. {@link #read} first checks the conditions in
 * docs/internals/file-format.md under "Validity of a checkpoint", in their order, and refuses a damaged checkpoint.
 * {@link #readDamaged} visits every section whose checksum is correct, wherever the section is.
 *
 * <p>It keeps only a window of the file in memory.
 */
public final class CheckpointReader implements AutoCloseable {

    /** Receives the lists of a checkpoint, partition by partition, in the order in which they were written. */
    public interface Visitor {
        /** A visitor that ignores all contents. Used to check a checkpoint. */
        Visitor NONE = new Visitor() {};

        /** Visits a section of a partition that was captured at this LSN. */
        default void partition(int partition, long captureLsn) {}

        /** Visits a list or a piece of a list, whose regions start at index {@code at} of the buffer. */
        default void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {}

        /** Reports bytes that belong to no section, up to the next section or piece. Ends the reading by default. */
        default void damaged(CorruptStoreException damage) {
            throw damage;
        }
    }

    private static final int WINDOW_BYTES = 1 << 20;
    private static final int ALIGNMENT = 8;

    private final StoreFile file;
    private final long fileBytes;
    private final int version;
    private final long statedBytes;
    private @Nullable CheckpointHeader header;
    private @Nullable CaravanException headerDamage;
    /** The last error of the disk while it read the file, if any. */
    private @Nullable IOException unreadable;

    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowAt;
    /** The reason why no section starts at the position that was checked last. */
    private String problem = "";
    /** The offset of the section or piece that is being visited. */
    private long offset;

    public CheckpointReader(Storage storage, long number) throws IOException {
        this(storage.open(FileNames.CHECKPOINT.of(number)), number);
    }

    /** Reads a checkpoint from this file, which {@link #close()} closes. */
    public CheckpointReader(StoreFile file, long number) throws IOException {
        this.file = file;
        try {
            ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            fileBytes = file.size();
            boolean hasVersion = load(bytes, 0) >= FileHeader.BYTES;
            version = hasVersion ? bytes.getInt(FileHeader.VERSION) : FileHeader.NEWEST_VERSION;
            statedBytes = bytes.limit() == HEADER_BYTES ? bytes.getLong(FILE_BYTES) : 0;
            readHeader(bytes, number);
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    private void readHeader(ByteBuffer bytes, long number) {
        try {
            header = CheckpointHeader.decode(bytes, number, file.path());
        } catch (CaravanException damaged) {
            headerDamage = unreadable == null ? damaged : corrupt(0, "the header is damaged");
        }
    }

    /** Returns the header. Throws an exception if one of conditions 1 to 4 of a valid checkpoint does not hold. */
    public CheckpointHeader header() {
        if (header == null) {
            throw Objects.requireNonNull(headerDamage);
        }
        if (statedBytes != fileBytes) {
            throw corrupt(fileBytes, "is " + fileBytes + " bytes long, should be " + statedBytes);
        }
        return header;
    }

    /** Returns the header of a file that may have the wrong length; null if the header is damaged. */
    public @Nullable CheckpointHeader damagedHeader() {
        return header;
    }

    /**
     * Returns a position that the log has reached, even if this checkpoint is damaged: the log is fsynced up to the end
     * of a checkpoint before the checkpoint is published. If the header is damaged, the intact sections name the end.
     * If they are damaged too, returns 0.
     *
     * @throws IOException if the disk cannot read the file, and no readable part of the file names the end
     */
    public long provenEndLsn() throws IOException {
        if (header != null) {
            return header.endLsn();
        }
        CaptureLsns found = new CaptureLsns();
        readDamaged(MAX_PARTITIONS, found);
        if (found.highest == 0 && unreadable != null) {
            throw unreadable;
        }
        return found.highest;
    }

    /** Finds the highest position at which an intact section was captured. */
    private static final class CaptureLsns implements Visitor {
        private long highest;

        @Override
        public void partition(int partition, long captureLsn) {
            highest = captureLsn < NUMBER_LIMIT ? Math.max(highest, captureLsn) : highest;
        }

        @Override
        public void damaged(CorruptStoreException damage) {}
    }

    /** Whether the file is shorter than its header states. */
    public boolean cutOff() {
        return header != null && fileBytes < statedBytes;
    }

    public long fileBytes() {
        return fileBytes;
    }

    public String path() {
        return file.path();
    }

    /**
     * Visits every section and piece, checking conditions 1 to 7. If this throws an exception, discard everything
     * visited.
     */
    public void read(Visitor visitor) throws IOException {
        Tally tally = new Tally(header(), visitor);
        readDamaged(header().partitions(), tally);
        tally.check();
    }

    /** Returns the exception that a visitor must throw if it cannot use the visited piece. */
    public CorruptStoreException corruptPiece(String reason) {
        return corrupt(offset, reason);
    }

    private CorruptStoreException corrupt(long at, String reason) {
        String cause = unreadable == null ? "" : "; the disk cannot read the file: " + FileStorage.problem(unreadable);
        return new CorruptStoreException(file.path(), at, reason + cause);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** The fields that all pieces of one list have in common. */
    private record Head(long id, long creationLsn, long first, long next) {
        /** Compares the fields. The first call of the generated {@code equals} takes tens of milliseconds. */
        boolean is(long otherId, long otherCreationLsn, long otherFirst, long otherNext) {
            return id == otherId && creationLsn == otherCreationLsn && first == otherFirst && next == otherNext;
        }
    }

    /** Compares the contents with the totals in the header, and passes the contents to another visitor. */
    private final class Tally implements Visitor {
        private final CheckpointHeader header;
        private final Visitor visitor;
        private final BitSet partitions = new BitSet();
        private Head last = new Head(0, 0, 0, 0);
        private long missing;
        private long lists;
        private long entries;

        Tally(CheckpointHeader header, Visitor visitor) {
            this.header = header;
            this.visitor = visitor;
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
            if (missing == 0) {
                last = new Head(id, creationLsn, first, next);
                missing = next - first;
                lists++;
            }
            if (!last.is(id, creationLsn, first, next) || count > missing) {
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

    /**
     * Visits every section whose checksum is correct, and reports all other bytes after the headers as damage.
     *
     * @param partitions the expected number of partitions
     */
    public void readDamaged(int partitions, Visitor visitor) throws IOException {
        window = ByteBuffer.allocateDirect((int) Math.min(WINDOW_BYTES, fileBytes))
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
        long at = CheckpointLayout.headerBytes(version);
        boolean afterDamage = false;
        while (at < fileBytes) {
            int bytes = sectionAt(at, partitions);
            if (bytes > 0) {
                visitSection(at, bytes, visitor);
            } else if (!afterDamage) {
                visitor.damaged(corrupt(at, problem));
            }
            afterDamage = bytes == 0;
            at += bytes > 0 ? bytes : ALIGNMENT;
        }
    }

    /**
     * Loads the section at this position of the file into the window, and returns its length; 0 if no section starts
     * there.
     */
    private int sectionAt(long at, int partitions) throws IOException {
        if (!loaded(at, SECTION_HEADER_BYTES)) {
            return none("a section is cut off");
        }
        int start = (int) (at - windowAt);
        int payloadBytes = window.getInt(start + SECTION_PAYLOAD_BYTES);
        if (payloadBytes < 0 || payloadBytes > Math.min(MAX_PAYLOAD_BYTES, fileBytes - at)) {
            return none("a section says that it is " + payloadBytes + " bytes long");
        }
        int partition = window.getInt(start + SECTION_PARTITION);
        if (partition < 0 || partition >= partitions) {
            return none("a section names partition " + partition + " of " + partitions);
        }
        int bytes = SECTION_HEADER_BYTES + payloadBytes;
        if (!loaded(at, bytes)) {
            return none("a section is cut off");
        }
        start = (int) (at - windowAt);
        int sum = Checksums.crc32c(window, start + SECTION_PAYLOAD_BYTES, bytes - SECTION_PAYLOAD_BYTES);
        return window.getInt(start + SECTION_CRC) == sum ? bytes : none("a section's checksum is wrong");
    }

    private int none(String reason) {
        problem = reason;
        return 0;
    }

    /**
     * Loads a range of the file into the window. Returns false if the file ends before the end of the range. Reads many
     * sections at a time, because most are small.
     */
    private boolean loaded(long at, int bytes) throws IOException {
        if (at < windowAt || at + bytes > windowAt + window.limit()) {
            windowAt = at;
            load(window, at);
        }
        return window.limit() - (at - windowAt) >= bytes;
    }

    /**
     * Fills a buffer from a position of the file, and returns the number of bytes. A block that the disk cannot read is
     * damaged like any other: it is replaced by zeros, which match no checksum.
     */
    private int load(ByteBuffer target, long position) throws IOException {
        try {
            file.read(target.clear(), position);
            return target.flip().limit();
        } catch (IOException failed) {
            unreadable = failed;
        }
        int count = (int) Math.min(target.capacity(), fileBytes - position);
        int bytes;
        for (int done = 0; done < count; done += bytes) {
            bytes = (int) Math.min(Blocks.BLOCK_BYTES - (position + done) % Blocks.BLOCK_BYTES, count - done);
            ByteBuffer block = target.slice(done, bytes);
            try {
                file.read(block, position + done);
            } catch (IOException failed) {
                block.clear().put(new byte[bytes]);
            }
        }
        return target.position(0).limit(count).limit();
    }

    private void visitSection(long at, int bytes, Visitor visitor) {
        int start = (int) (at - windowAt);
        int end = start + bytes;
        offset = at;
        visitor.partition(window.getInt(start + SECTION_PARTITION), window.getLong(start + SECTION_CAPTURE_LSN));
        int piece = start + SECTION_HEADER_BYTES;
        int pieces = 0;
        while (piece < end) {
            offset = windowAt + piece;
            int regionsAt = piece + PIECE_HEADER_BYTES;
            long count = regionsAt <= end ? window.getLong(piece + PIECE_ENTRIES) : -1;
            if (count < 0 || count > (end - regionsAt) / Long.BYTES) {
                visitor.damaged(corruptPiece("a list does not fit its section"));
                return;
            }
            visitPiece(piece, regionsAt, (int) count, visitor);
            piece = regionsAt + (int) count * Long.BYTES;
            pieces++;
        }
        int stated = window.getInt(start + SECTION_PIECES);
        if (pieces != stated) {
            visitor.damaged(corrupt(at, "a section holds " + pieces + " pieces, should hold " + stated));
        }
    }

    private void visitPiece(int at, int regionsAt, int count, Visitor visitor) {
        long id = window.getLong(at + PIECE_ID);
        long first = window.getLong(at + PIECE_FIRST);
        long next = window.getLong(at + PIECE_NEXT);
        if (first < 0 || next < first || next >= NUMBER_LIMIT) {
            visitor.damaged(corruptPiece("document " + id + " has the sequences " + first + " to " + next));
        } else {
            visitor.piece(id, window.getLong(at + PIECE_CREATION_LSN), first, next, window, regionsAt, count);
        }
    }
}
