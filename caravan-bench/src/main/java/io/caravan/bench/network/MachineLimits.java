package io.caravan.bench.network;

import io.caravan.bench.report.ForceProbe;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import java.io.IOException;

/** What the disk allows: small forces and large ones, by hand. */
final class MachineLimits implements NetworkMeasure {
    private static final int LARGE_BLOCK_BYTES = 1 << 20;

    private final Results results = new Results();
    private final int smallCount;
    private final int largeCount;

    MachineLimits(boolean quick) {
        smallCount = quick ? 50 : 2_000;
        largeCount = quick ? 5 : 100;
    }

    @Override
    public void run(Stage stage) throws IOException {
        stage.say("forces by hand");
        measure(stage, "write and force of 4 KiB, allocated file", ForceProbe.SMALL_BLOCK_BYTES, smallCount);
        measure(stage, "write and force of 1 MiB, allocated file", LARGE_BLOCK_BYTES, largeCount);
    }

    private void measure(Stage stage, String workload, int blockBytes, int count) throws IOException {
        try (ForceProbe probe = new ForceProbe(stage.work(), blockBytes, count)) {
            results.add(new Row(workload, "by hand", "forced"), probe.run());
        }
    }

    @Override
    public Table table() {
        return new Table("The disk", "In every run, before anything else.", results);
    }
}
