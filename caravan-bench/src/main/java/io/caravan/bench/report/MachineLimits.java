package io.caravan.bench.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures, within a second, the machine's own limits: small and large fsyncs, copies, page faults, the clock, and
 * thread wake-ups.
 */
public final class MachineLimits implements Measure {
    private static final String BY_HAND = "by hand";
    private static final String FSYNCED = "fsynced";
    private static final String NOTHING_STORED = "nothing stored";
    private static final int BYTES_PER_KIB = 1024;
    private static final int BYTES_PER_MIB = 1 << 20;
    /** Time limit for each block size. */
    private static final long FSYNCS_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

    /** A block size and a number of fsyncs, which is limited because the file has to be written in advance. */
    private record Fsyncs(int blockBytes, int count) {
        String workload() {
            String size = blockBytes < BYTES_PER_MIB
                    ? blockBytes / BYTES_PER_KIB + " KiB"
                    : blockBytes / BYTES_PER_MIB + " MiB";
            return "write and fsync of " + size + ", allocated file";
        }
    }

    private static final List<Fsyncs> FSYNCS = List.of(
            new Fsyncs(FsyncProbe.SMALL_BLOCK_BYTES, 1_000),
            new Fsyncs(64 * BYTES_PER_KIB, 200),
            new Fsyncs(256 * BYTES_PER_KIB, 80),
            new Fsyncs(BYTES_PER_MIB, 32),
            new Fsyncs(4 * BYTES_PER_MIB, 8));

    private static final int QUICK_FSYNCS = 5;

    private final Results results = new Results();
    private final boolean quick;

    /** Creates this part of a benchmark. A quick run shows only that the part works. */
    public MachineLimits(boolean quick) {
        this.quick = quick;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        turn.say("the machine's limits, by hand");
        for (Fsyncs fsyncs : FSYNCS) {
            int count = quick ? Math.min(fsyncs.count(), QUICK_FSYNCS) : fsyncs.count();
            results.add(
                    fsyncs.workload(),
                    BY_HAND,
                    FSYNCED,
                    FsyncProbe.run(turn.work(), fsyncs.blockBytes(), count, FSYNCS_NANOS));
        }
        int copyMib = quick ? 1 : 64;
        add(
                String.format(Locale.ROOT, "copy of %d MiB in memory", copyMib),
                MachineProbe.copy(copyMib * BYTES_PER_MIB, 4));
        add("first write to a page of a mapped file", MachineProbe.firstTouches(turn.work(), quick ? 64 : 4_096));
        int pieceMib = quick ? 1 : 64;
        add(
                String.format(Locale.ROOT, "%d MiB of memory for a new file", pieceMib),
                MachineProbe.newFile(turn.work(), pieceMib * BYTES_PER_MIB, 8));
        add("reading the clock", MachineProbe.clock(quick ? 1_000 : 100_000));
        add("waking a thread", MachineProbe.wakeUps(quick ? 50 : 1_000));
    }

    private void add(String workload, Measurement measurement) {
        results.add(workload, BY_HAND, NOTHING_STORED, measurement);
    }

    @Override
    public Table table() {
        return new Table(
                "The machine",
                "Measured in every run, before anything else. Fsyncs: at most "
                        + TimeUnit.NANOSECONDS.toMillis(FSYNCS_NANOS)
                        + " ms of each size, in a file whose blocks were written before. The page belongs to a fresh"
                        + " mapping of an allocated file that is in the page cache. The memory for a new file is"
                        + " requested eight times in a row, by writes of 64 KiB; where that takes longer than a"
                        + " copy, the host of a virtual machine had reclaimed memory and must return it. A thread is"
                        + " woken by a hand-over through a queue; the time ends when it has received the item.",
                results);
    }

    /**
     * Measures the minimum costs of copying memory, writing to a mapped file, reading the clock, and waking a thread.
     */
    private static final class MachineProbe {
        private static final int PAGE_BYTES = 4096;
        private static final int WRITE_BYTES = 64 << 10;
        private static final int DIGITS = 3;
        private static final long FALLING_ASLEEP_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
        private static final int TIMEOUT_SECONDS = 10;
        private static final double BYTES_PER_GB = 1e9;
        private static final double NANOS_PER_SECOND = 1e9;
        private static final double MICROS_PER_MILLI = 1e3;

        private MachineProbe() {}

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
         * Measures filling a new file without an fsync; the operating system has to allocate memory for the file. On a
         * virtual machine whose host reclaims free memory, allocation can be much slower than the copy itself.
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

        /**
         * Measures the first write to each page of a new mapping. The file is already allocated and in the page cache.
         */
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
            return Measurement.ofNanos(nanos);
        }

        /** Measures the time between two consecutive readings of the clock. */
        static Measurement clock(int readings) {
            Histogram nanos = new Histogram(DIGITS);
            for (int i = 0; i < readings; i++) {
                long start = System.nanoTime();
                nanos.recordValue(System.nanoTime() - start);
            }
            return Measurement.ofNanos(nanos);
        }

        /** Hands an item to a sleeping thread, and measures the time until that thread receives it. */
        static Measurement wakeUps(int wakeUps) throws InterruptedException {
            SynchronousQueue<Long> queue = new SynchronousQueue<>();
            Histogram nanos = new Histogram(DIGITS);
            Thread sleeper = new Thread(() -> receive(queue, nanos, wakeUps), "wake-up-probe");
            sleeper.start();
            for (int i = 0; i < wakeUps; i++) {
                awaitSleep(sleeper);
                if (!queue.offer(System.nanoTime(), TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("the woken thread did not take the item it was given");
                }
            }
            sleeper.join();
            return Measurement.ofNanos(nanos);
        }

        /**
         * Waits until a thread is asleep. A thread reports that it is waiting shortly before it really sleeps, so this
         * method then waits a little longer.
         */
        private static void awaitSleep(Thread sleeper) {
            while (sleeper.isAlive() && sleeper.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            long asleepNanos = System.nanoTime() + FALLING_ASLEEP_NANOS;
            while (System.nanoTime() - asleepNanos < 0) {
                Thread.onSpinWait();
            }
        }

        private static void receive(SynchronousQueue<Long> queue, Histogram nanos, int wakeUps) {
            try {
                for (int i = 0; i < wakeUps; i++) {
                    long handedOverNanos = queue.take();
                    nanos.recordValue(System.nanoTime() - handedOverNanos);
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
