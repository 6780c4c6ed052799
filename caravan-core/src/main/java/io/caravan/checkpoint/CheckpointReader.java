package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.CorruptStoreException;
import io.caravan.format.Checksums;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;

/**
 * Reads one checkpoint file, checking everything before it is used. A file is whole when, in this order: (1) its file
 * header is valid; (2) the checkpoint header's CRC is right; (3) its numbers are ones that a store can have; (4) its
 * length is what the header says; (5) every section fits the file, its CRC is right, it names a partition, and one
 * captured between the start and the end; (6) the pieces fill their sections, those of one list have the same head, and
 * they add up to the lists and entries that the header announces; (7) every partition has a section.
 */
public final class CheckpointReader implements AutoCloseable {

    /** Receives what a checkpoint holds, in the order in which it was written. */
    public interface Visitor {
        /** Ignores everything: for reading a checkpoint only to check it. */
        Visitor NOBODY = new Visitor() {
            @Override
            public void partition(int partition, long captureLsn) {}

            @Override
            public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {}
        };

        /** A section of a partition that was captured at this LSN. */
        void partition(int partition, long captureLsn);

        /** A list, or the first or a later piece of one. Its regions start at index {@code at} of the buffer. */
        void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count);
    }

    private static final int MAX_SECTION_BYTES = SECTION_HEADER_BYTES + MAX_PAYLOAD_BYTES;

    private final StoreFile file;
    private final CheckpointHeader header;
    private final long fileBytes;
    /** Offset of the piece that is being visited. */
    private long pieceOffset;

    /** Opens a checkpoint and checks conditions 1 to 4. */
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

    /** The file's size in bytes. */
    public long fileBytes() {
        return fileBytes;
    }

    /** The file's path. */
    public String path() {
        return file.path();
    }

    /** Visits every section and piece, checking conditions 5 to 7. When it fails, drop what was visited before. */
    public void read(Visitor visitor) throws IOException {
        ByteBuffer window = ByteBuffer.allocateDirect((int) Math.min(MAX_SECTION_BYTES, fileBytes))
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
        Tally tally = new Tally();
        long position = HEADER_BYTES;
        while (position < fileBytes) {
            int bytes = load(window, position);
            int at = window.position();
            int partition = window.getInt(at + SECTION_PARTITION);
            long captureLsn = window.getLong(at + SECTION_CAPTURE_LSN);
            tally.section(partition, captureLsn, position);
            visitor.partition(partition, captureLsn);
            visitPieces(window, bytes, position, visitor, tally);
            window.position(at + bytes);
            position += bytes;
        }
        tally.check(position);
    }

    /** Loads the section at this position of the file to the window's position. Returns its size in bytes. */
    private int load(ByteBuffer window, long position) throws IOException {
        fill(window, position, SECTION_HEADER_BYTES);
        int payloadBytes = window.getInt(window.position() + SECTION_PAYLOAD_BYTES);
        if (payloadBytes < 0 || payloadBytes > Math.min(MAX_PAYLOAD_BYTES, fileBytes - position)) {
            throw corrupt(position, "a section says that it is " + payloadBytes + " bytes long");
        }
        int bytes = SECTION_HEADER_BYTES + payloadBytes;
        fill(window, position, bytes);
        int at = window.position();
        int covered = bytes - SECTION_PAYLOAD_BYTES;
        if (window.getInt(at + SECTION_CRC) != Checksums.crc32c(window, at + SECTION_PAYLOAD_BYTES, covered)) {
            throw corrupt(position, "a section's checksum is wrong");
        }
        return bytes;
    }

    /** Reads as many sections at a time as the window holds, because most are small. */
    private void fill(ByteBuffer window, long position, int bytes) throws IOException {
        if (window.remaining() < bytes) {
            window.clear();
            file.read(window, position);
            window.flip();
        }
        if (window.remaining() < bytes) {
            throw corrupt(position, "a section is cut off");
        }
    }

    private void visitPieces(ByteBuffer window, int bytes, long position, Visitor visitor, Tally tally) {
        int start = window.position();
        int end = start + bytes;
        int at = start + SECTION_HEADER_BYTES;
        int pieces = 0;
        while (at < end) {
            pieceOffset = position + at - start;
            at = visitPiece(window, at, end, visitor, tally);
            pieces++;
        }
        int announced = window.getInt(start + SECTION_PIECES);
        if (pieces != announced) {
            throw corrupt(position, "a section holds " + pieces + " pieces, should hold " + announced);
        }
    }

    /** Returns the index of the next piece. */
    private int visitPiece(ByteBuffer window, int at, int end, Visitor visitor, Tally tally) {
        int regionsAt = at + PIECE_HEADER_BYTES;
        long count = regionsAt <= end ? window.getLong(at + PIECE_ENTRIES) : -1;
        if (count < 0 || count > (end - regionsAt) / Long.BYTES) {
            throw corruptPiece("a list does not fit its section");
        }
        Head head = new Head(
                window.getLong(at + PIECE_ID),
                window.getLong(at + PIECE_BIRTH),
                window.getLong(at + PIECE_FIRST),
                window.getLong(at + PIECE_NEXT));
        tally.piece(head, count);
        visitor.piece(head.id(), head.birth(), head.first(), head.next(), window, regionsAt, (int) count);
        return regionsAt + (int) count * Long.BYTES;
    }

    /** The exception that a visitor throws when it cannot use the piece that it is given. */
    public CorruptStoreException corruptPiece(String problem) {
        return corrupt(pieceOffset, problem);
    }

    private CorruptStoreException corrupt(long offset, String problem) {
        return new CorruptStoreException(file.path(), offset, problem);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** What the pieces of one list have in common. */
    private record Head(long id, long birth, long first, long next) {
        boolean isSound() {
            return first >= 0 && next >= first && next < NUMBER_LIMIT;
        }
    }

    /** Counts what was read against what the header says. */
    private final class Tally {
        private final BitSet partitions = new BitSet();
        private Head last = new Head(0, 0, 0, 0);
        private long missing;
        private long lists;
        private long entries;

        void section(int partition, long captureLsn, long position) {
            if (partition < 0 || partition >= header.partitions()) {
                throw corrupt(position, "names partition " + partition + " of " + header.partitions());
            }
            if (captureLsn < header.startLsn() || captureLsn > header.endLsn()) {
                throw corrupt(position, "says that it was captured at LSN " + captureLsn);
            }
            partitions.set(partition);
        }

        void piece(Head head, long count) {
            if (missing == 0) {
                startList(head);
            }
            if (!head.equals(last) || count > missing) {
                throw corruptPiece("the pieces of document " + last.id() + " do not fit together");
            }
            missing -= count;
            entries += count;
        }

        private void startList(Head head) {
            if (!head.isSound()) {
                throw corruptPiece(
                        "document " + head.id() + " has the sequences " + head.first() + " to " + head.next());
            }
            last = head;
            missing = head.next() - head.first();
            lists++;
        }

        void check(long position) {
            if (missing > 0
                    || lists != header.lists()
                    || entries != header.entries()
                    || partitions.cardinality() != header.partitions()) {
                throw corrupt(
                        position,
                        "holds " + lists + " lists, " + entries + " entries and " + partitions.cardinality()
                                + " partitions, should hold " + header.lists() + ", " + header.entries() + " and "
                                + header.partitions());
            }
        }
    }
}
