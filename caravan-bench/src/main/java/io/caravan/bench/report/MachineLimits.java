package io.caravan.bench.report;

import io.caravan.bench.report.Results.Row;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Measures the machine's own limits within a second: small and large fsyncs, copies, page faults, the clock, and thread
 * wake-ups.
 */
public final class MachineLimits implements Measure {
    private static final String BY_HAND = "by hand";
    private static final String FORCED = "forced";
    private static final String NOTHING_STORED = "nothing stored";
    private static final int BYTES_PER_KIB = 1024;
    private static final int BYTES_PER_MIB = 1 << 20;
    /** Time limit for each block size. */
    private static final long FORCES_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

    /** Fsyncs of blocks of one size. Their number is limited, because the file has to be written in advance. */
    private record Forces(int blockBytes, int count) {
        String workload() {
            String size = blockBytes < BYTES_PER_MIB
                    ? blockBytes / BYTES_PER_KIB + " KiB"
                    : blockBytes / BYTES_PER_MIB + " MiB";
            return "write and force of " + size + ", allocated file";
        }
    }

    private static final List<Forces> FORCES = List.of(
            new Forces(ForceProbe.SMALL_BLOCK_BYTES, 1_000),
            new Forces(64 * BYTES_PER_KIB, 200),
            new Forces(256 * BYTES_PER_KIB, 80),
            new Forces(BYTES_PER_MIB, 32),
            new Forces(4 * BYTES_PER_MIB, 8));

    private static final int QUICK_FORCES = 5;

    private final Results results = new Results();
    private final boolean quick;

    /** Creates the part. A quick run only shows that it works. */
    public MachineLimits(boolean quick) {
        this.quick = quick;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        turn.say("the machine's limits, by hand");
        for (Forces forces : FORCES) {
            int count = quick ? Math.min(forces.count(), QUICK_FORCES) : forces.count();
            try (ForceProbe probe = new ForceProbe(turn.work(), forces.blockBytes(), count)) {
                results.add(new Row(forces.workload(), BY_HAND, FORCED), probe.run(FORCES_NANOS));
            }
        }
        int copyMib = quick ? 1 : 64;
        add(
                String.format(Locale.ROOT, "copy of %d MiB in memory", copyMib),
                MemoryProbe.copy(copyMib * BYTES_PER_MIB, 4));
        add("first write to a page of a mapped file", MemoryProbe.firstTouches(turn.work(), quick ? 64 : 4_096));
        int pieceMib = quick ? 1 : 64;
        add(
                String.format(Locale.ROOT, "%d MiB of memory for a new file", pieceMib),
                MemoryProbe.newFile(turn.work(), pieceMib * BYTES_PER_MIB, 8));
        add("reading the clock", ThreadProbe.clock(quick ? 1_000 : 100_000));
        add("waking a thread", ThreadProbe.wakeUps(quick ? 50 : 1_000));
    }

    private void add(String workload, Measurement measurement) {
        results.add(new Row(workload, BY_HAND, NOTHING_STORED), measurement);
    }

    @Override
    public Table table() {
        return new Table(
                "The machine",
                "Measured in every run, before anything else. Forces: at most "
                        + TimeUnit.NANOSECONDS.toMillis(FORCES_NANOS)
                        + " ms of each size, in a file whose blocks were written before. The page belongs to a fresh"
                        + " mapping of an allocated file that is in the page cache. The memory for a new file is"
                        + " requested eight times in a row, by writes of 64 KiB; where that takes longer than a"
                        + " copy, the host of a virtual machine had reclaimed memory and must return it. A thread is"
                        + " woken by a hand-over through a queue; the time ends when it has received the item.",
                results);
    }
}
