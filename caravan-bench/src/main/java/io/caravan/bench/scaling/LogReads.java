package io.caravan.bench.scaling;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** The upper bound of a replay: reads the same log from the page cache and computes its checksum. */
final class LogReads {
    private static final int PIECE_BYTES = 1 << 20;
    private static final double NANOS_PER_MICRO = 1e3;

    private LogReads() {}

    /**
     * Reads a store's log once.
     *
     * @param bytes number of bytes to read, from the start
     */
    static double megabytesPerSecond(Path directory, long bytes) throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
        CRC32C crc = new CRC32C();
        long done = 0;
        long start = System.nanoTime();
        for (Path file : StoreShelf.files(directory)) {
            if (file.getFileName().toString().startsWith("log-")) {
                done += read(file, bytes - done, piece, crc);
            }
        }
        // Bytes per microsecond equal megabytes per second.
        return done / ((System.nanoTime() - start) / NANOS_PER_MICRO);
    }

    private static long read(Path file, long limit, ByteBuffer piece, CRC32C crc) throws IOException {
        long done = 0;
        try (FileChannel channel = FileChannel.open(file)) {
            while (done < limit && channel.read(piece.clear()) > 0) {
                crc.update(piece.flip());
                done += piece.limit();
            }
        }
        return done;
    }
}
