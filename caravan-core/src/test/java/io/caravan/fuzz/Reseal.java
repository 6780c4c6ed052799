package io.caravan.fuzz;

import io.caravan.format.Blocks;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.format.FrameLayout;
import java.nio.ByteBuffer;

/**
 * Recomputes the checksums of changed data, provided that the data is complete. With correct checksums, a fuzzer gets
 * past the checks, as an attacker would.
 */
public final class Reseal {

    private Reseal() {}

    /** Recomputes the checksum of the file header at the start of the buffer. */
    public static void fileHeader(ByteBuffer file) {
        if (file.limit() >= FileHeader.BYTES) {
            byte[] covered = new byte[FileHeader.BYTES - Integer.BYTES];
            file.get(0, covered, 0, FileHeader.CRC);
            file.get(FileHeader.STORE_ID, covered, FileHeader.CRC, FileHeader.BYTES - FileHeader.STORE_ID);
            file.putInt(FileHeader.CRC, Checksums.crc32c(covered));
        }
    }

    /** Recomputes the checksums of both headers and the contiguous sections of a checkpoint file. */
    public static void checkpoint(ByteBuffer file) {
        fileHeader(file);
        if (file.limit() < CheckpointLayout.HEADER_BYTES) {
            return;
        }
        file.putInt(
                CheckpointLayout.HEADER_CRC,
                Checksums.crc32c(file, FileHeader.BYTES, CheckpointLayout.HEADER_CRC - FileHeader.BYTES));
        Sections.forEach(file, at -> {
            int covered = Sections.bytes(file, at) - CheckpointLayout.SECTION_PAYLOAD_BYTES;
            int from = at + CheckpointLayout.SECTION_PAYLOAD_BYTES;
            file.putInt(at + CheckpointLayout.SECTION_CRC, Checksums.crc32c(file, from, covered));
        });
    }

    /** Recomputes the checksums of the header and of every frame of a log segment. */
    public static void logSegment(ByteBuffer file) {
        fileHeader(file);
        for (int at = Blocks.BLOCK_BYTES; at + FrameLayout.HEADER_BYTES <= file.limit(); at += Blocks.BLOCK_BYTES) {
            if (FrameLayout.magicAt(file, at)) {
                frame(file, at);
            }
        }
    }

    /** Recomputes the checksum of one frame, if the length that it states fits in the buffer. */
    public static void frame(ByteBuffer file, int at) {
        int payload = file.getInt(at + FrameLayout.PAYLOAD_BYTES);
        if (payload >= 0 && payload <= file.limit() - at - FrameLayout.HEADER_BYTES) {
            file.putInt(at + FrameLayout.CRC, FrameLayout.checksum(file, at, payload));
        }
    }
}
