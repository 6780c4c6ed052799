package io.caravan.bench.report;

import io.caravan.bench.report.Results.Row;
import java.io.IOException;

/** What the disk allows: small forces and large ones, by hand. */
public final class MachineLimits implements Measure {
    private static final int LARGE_BLOCK_BYTES = 1 << 20;

    private final Results results = new Results();
    private final int smallCount;
    private final int largeCount;

    /** Measures; a quick one shows that it works, and says nothing of speed. */
    public MachineLimits(boolean quick) {
        smallCount = quick ? 50 : 2_000;
        largeCount = quick ? 5 : 100;
    }

    @Override
    public void run(Turn turn) throws IOException {
        turn.say("forces by hand");
        measure(turn, "write and force of 4 KiB, allocated file", ForceProbe.SMALL_BLOCK_BYTES, smallCount);
        measure(turn, "write and force of 1 MiB, allocated file", LARGE_BLOCK_BYTES, largeCount);
    }

    private void measure(Turn turn, String workload, int blockBytes, int count) throws IOException {
        try (ForceProbe probe = new ForceProbe(turn.work(), blockBytes, count)) {
            results.add(new Row(workload, "by hand", "forced"), probe.run());
        }
    }

    @Override
    public Table table() {
        return new Table("The disk", "In every run, before anything else.", results);
    }
}
