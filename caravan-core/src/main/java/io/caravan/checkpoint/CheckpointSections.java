package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.format.CheckpointLayout;
import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Walks through a checkpoint file. It visits every section whose checksum is correct, wherever the section is, and
 * reports all other bytes as damage. {@link CheckpointReader} then throws an exception; a reader of a damaged file
 * continues after the damage.
 *
 * <p>It keeps only a window of the file in memory.
 */
public final class CheckpointSections {

    /** Receives the sections and the damage in the order in which they appear in the file. */
    public interface Visitor extends CheckpointReader.Visitor {
        /** Reports bytes that belong to no section, from this file offset to the next section or piece. */
        void damaged(long offset, String problem);
    }

    private static final int WINDOW_BYTES = 1 << 20;
    private static final int ALIGNMENT = 8;

    private final StoreFile file;
    private final long fileBytes;
    private final int partitions;
    private final Visitor visitor;
    private final ByteBuffer window;
    private long windowAt;
    /** The reason why no section starts at the position that was checked last. */
    private String problem = "";

    private long offset;

    /**
     * Prepares to visit the sections of a file, up to the file's current end.
     *
     * @param partitions the expected number of partitions
     */
    public CheckpointSections(StoreFile file, int partitions, Visitor visitor) throws IOException {
        this.file = file;
        this.fileBytes = file.size();
        this.partitions = partitions;
        this.visitor = visitor;
        this.window = ByteBuffer.allocateDirect((int) Math.min(WINDOW_BYTES, fileBytes))
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
    }

    /** Returns the offset of the section or piece that is being visited. */
    public long offset() {
        return offset;
    }

    /** Visits all sections after the file's headers, and reports damage. */
    public void visit() throws IOException {
        long at = headerBytes();
        boolean afterDamage = false;
        while (at < fileBytes) {
            int bytes = sectionAt(at);
            if (bytes > 0) {
                visitSection(at, bytes);
            } else if (!afterDamage) {
                visitor.damaged(at, problem);
            }
            afterDamage = bytes == 0;
            at += bytes > 0 ? bytes : ALIGNMENT;
        }
    }

    private int headerBytes() throws IOException {
        boolean whole = loaded(0, FileHeader.BYTES);
        return CheckpointLayout.headerBytes(whole ? window.getInt(FileHeader.VERSION) : FileHeader.NEWEST_VERSION);
    }

    /**
     * Loads the section at this position of the file into the window, and returns its length; 0 if no section starts
     * there.
     */
    private int sectionAt(long at) throws IOException {
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
            file.read(window.clear(), at);
            window.flip();
        }
        return window.limit() - (at - windowAt) >= bytes;
    }

    private void visitSection(long at, int bytes) {
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
                visitor.damaged(offset, "a list does not fit its section");
                return;
            }
            visitPiece(piece, regionsAt, (int) count);
            piece = regionsAt + (int) count * Long.BYTES;
            pieces++;
        }
        int announced = window.getInt(start + SECTION_PIECES);
        if (pieces != announced) {
            visitor.damaged(at, "a section holds " + pieces + " pieces, should hold " + announced);
        }
    }

    private void visitPiece(int at, int regionsAt, int count) {
        long id = window.getLong(at + PIECE_ID);
        long first = window.getLong(at + PIECE_FIRST);
        long next = window.getLong(at + PIECE_NEXT);
        if (first < 0 || next < first || next >= NUMBER_LIMIT) {
            visitor.damaged(offset, "document " + id + " has the sequences " + first + " to " + next);
        } else {
            visitor.piece(id, window.getLong(at + PIECE_CREATION_LSN), first, next, window, regionsAt, count);
        }
    }
}
