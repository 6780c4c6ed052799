package io.caravan.bench.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures the minimum costs of copying memory and of writing to a mapped file. */
final class MemoryProbe {
    private static final int PAGE_BYTES = 4096;
    private static final int WRITE_BYTES = 64 << 10;
    private static final int DIGITS = 3;
    private static final double BYTES_PER_GB = 1e9;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MICROS_PER_MILLI = 1e3;

    private MemoryProbe() {}

    /**
     * Measures copying memory that has been touched before.
     *
     * @param bytes size of a copy, which must exceed the processor's caches so that the copy measures memory
     */
    static Measurement copy(int bytes, int copies) {
        ByteBuffer from = ByteBuffer.allocateDirect(bytes);
        ByteBuffer to = ByteBuffer.allocateDirect(bytes);
        to.put(0, from, 0, bytes);
        long start = System.nanoTime();
        for (int i = 0; i < copies; i++) {
            to.put(0, from, 0, bytes);
        }
        double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
        return new Measurement().with(Figure.GB_PER_SECOND, (double) bytes * copies / BYTES_PER_GB / seconds);
    }

    /**
     * Measures the filling of a new file without an fsync, for which the operating system has to allocate memory. On a
     * virtual machine whose host reclaims free memory, this can be much slower than the copy itself.
     */
    static Measurement newFile(Path directory, int pieceBytes, int pieces) throws IOException {
        Path path = directory.resolve("memory-probe");
        Histogram micros = new Histogram(DIGITS);
        long begun = System.nanoTime();
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocateDirect(WRITE_BYTES);
            for (int piece = 0; piece < pieces; piece++) {
                long start = System.nanoTime();
                for (int written = 0; written < pieceBytes; written += WRITE_BYTES) {
                    file.write(zeros.clear());
                }
                micros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
            }
            double seconds = (System.nanoTime() - begun) / NANOS_PER_SECOND;
            return new Measurement()
                    .with(Figure.GB_PER_SECOND, (double) pieceBytes * pieces / BYTES_PER_GB / seconds)
                    .with(Figure.P50_MILLIS, micros.getValueAtPercentile(50) / MICROS_PER_MILLI)
                    .with(Figure.MAX_MILLIS, micros.getMaxValue() / MICROS_PER_MILLI);
        } finally {
            Files.deleteIfExists(path);
        }
    }

    /** Measures the first write to each page of a new mapping. The file is already allocated and in the page cache. */
    static Measurement firstTouches(Path directory, int pages) throws IOException {
        Path path = directory.resolve("page-probe");
        Histogram nanos = new Histogram(DIGITS);
        try (HandFile file = new HandFile(path)) {
            file.prepare((long) pages * PAGE_BYTES);
            MappedByteBuffer mapped = file.map((long) pages * PAGE_BYTES);
            for (int page = 0; page < pages; page++) {
                long start = System.nanoTime();
                mapped.put(page * PAGE_BYTES, (byte) 1);
                nanos.recordValue(System.nanoTime() - start);
            }
        } finally {
            Files.deleteIfExists(path);
        }
        return new Measurement()
                .with(Figure.P50_NANOS, nanos.getValueAtPercentile(50))
                .with(Figure.P99_NANOS, nanos.getValueAtPercentile(99));
    }
}
