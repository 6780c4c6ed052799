package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.CorruptStoreException;
import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads one checkpoint file, checking everything before it is used. A file is whole when, in this order: (1) its file
 * header is valid; (2) the checkpoint header's CRC is right; (3) its length is what the header says; (4) every section
 * fits the file, names a partition, and its CRC is right; (5) the pieces fit their sections and add up to the lists and
 * entries that the header says; (6) every partition has a section.
 */
public final class CheckpointReader implements AutoCloseable {

    /** Takes what a checkpoint holds, in the order it was written. */
    public interface Visitor {
        /** Drops everything: for reading a checkpoint only to check it. */
        Visitor NOBODY = new Visitor() {
            @Override
            public void partition(int partition, long captureLsn) {}

            @Override
            public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {}
        };

        /** A section of a partition that was captured at this LSN. */
        void partition(int partition, long captureLsn);

        /** A list, or the first or next piece of one, whose regions lie in the buffer from an index on. */
        void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count);
    }

    private static final int MAX_SECTION_BYTES = SECTION_HEADER_BYTES + MAX_PAYLOAD_BYTES;

    private final StoreFile file;
    private final CheckpointHeader header;
    private final long fileBytes;

    /** Opens a checkpoint and checks conditions 1 to 3. */
    public CheckpointReader(Storage storage, long number) throws IOException {
        file = storage.open(FileNames.CHECKPOINT.of(number));
        try {
            ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.read(bytes, 0);
            header = decode(bytes.flip(), number, file.path());
            fileBytes = bytes.getLong(FILE_BYTES);
            if (fileBytes != file.size()) {
                throw corrupt(file.size(), "is " + file.size() + " bytes long, should be " + fileBytes);
            }
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    private static CheckpointHeader decode(ByteBuffer bytes, long number, String path) {
        FileHeader.Fields fields = FileHeader.get(bytes, FileHeader.Kind.CHECKPOINT, path);
        if (bytes.limit() < HEADER_BYTES
                || bytes.getInt(HEADER_CRC)
                        != Checksums.crc32c(bytes, FileHeader.BYTES, HEADER_CRC - FileHeader.BYTES)) {
            throw new CorruptStoreException(path, HEADER_CRC, "the checkpoint header's checksum is wrong");
        }
        if (fields.number() != number) {
            throw new CorruptStoreException(path, FileHeader.NUMBER, "is checkpoint " + fields.number());
        }
        return new CheckpointHeader(
                number,
                fields.storeId(),
                bytes.getLong(START_LSN),
                bytes.getLong(END_LSN),
                bytes.getLong(PREVIOUS_LSN),
                bytes.getLong(LIST_COUNT),
                bytes.getLong(ENTRY_COUNT),
                (int) fields.segmentBytes(),
                bytes.getInt(HEAP_SEGMENT_BYTES),
                bytes.getInt(HEAP_SEGMENTS),
                bytes.getInt(PARTITIONS));
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

    /** Visits every section and piece, checking conditions 4 to 6. What was visited before a failure is to be dropped. */
    public void read(Visitor visitor) throws IOException {
        ByteBuffer window = ByteBuffer.allocateDirect((int) Math.min(MAX_SECTION_BYTES, fileBytes))
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
        Tally tally = new Tally();
        long position = HEADER_BYTES;
        while (position < fileBytes) {
            int bytes = load(window, position);
            int at = window.position();
            tally.partition(window.getInt(at + SECTION_PARTITION), position);
            visitor.partition(window.getInt(at + SECTION_PARTITION), window.getLong(at + SECTION_CAPTURE_LSN));
            visitPieces(window, bytes, position, visitor, tally);
            window.position(at + bytes);
            position += bytes;
        }
        tally.check(position);
    }

    /** Sees to it that the section at this position of the file is at the window's; returns its size. */
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

    /** Most sections are small, so as many as the window holds are read at a time. */
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
        for (int i = 0; i < window.getInt(start + SECTION_PIECES); i++) {
            long pieceAt = position + at - start;
            long count = at + PIECE_HEADER_BYTES <= end ? window.getLong(at + PIECE_ENTRIES) : -1;
            if (count < 0 || count > (end - at - PIECE_HEADER_BYTES) / Long.BYTES) {
                throw corrupt(pieceAt, "a list does not fit its section");
            }
            long first = window.getLong(at + PIECE_FIRST);
            long next = window.getLong(at + PIECE_NEXT);
            int regionsAt = at + PIECE_HEADER_BYTES;
            long id = window.getLong(at + PIECE_ID);
            tally.piece(id, first, next, count, pieceAt);
            visitor.piece(id, window.getLong(at + PIECE_BIRTH), first, next, window, regionsAt, (int) count);
            at = regionsAt + (int) count * Long.BYTES;
        }
    }

    private CorruptStoreException corrupt(long offset, String problem) {
        return new CorruptStoreException(file.path(), offset, problem);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** Counts what was read against what the header says. */
    private final class Tally {
        private final java.util.BitSet partitions = new java.util.BitSet();
        private long lists;
        private long entries;
        private long missing;
        private long lastId;

        void partition(int number, long position) {
            if (number < 0 || number >= header.partitions()) {
                throw corrupt(position, "names partition " + number + " of " + header.partitions());
            }
            partitions.set(number);
        }

        void piece(long id, long first, long next, long count, long position) {
            boolean goesOn = missing > 0;
            if (goesOn ? id != lastId || count > missing : count > next - first || first < 0 || next < first) {
                throw corrupt(position, "the pieces of document " + (goesOn ? lastId : id) + " do not fit together");
            }
            missing = (goesOn ? missing : next - first) - count;
            lastId = id;
            lists += goesOn ? 0 : 1;
            entries += count;
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
