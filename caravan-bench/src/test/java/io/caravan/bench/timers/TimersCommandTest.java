package io.caravan.bench.timers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class TimersCommandTest {
    @TempDir
    private Path out;

    @Test
    @Tag("thorough")
    void measuresEveryWaitOnBothMachines() throws IOException {
        JsonNode rows = SuiteRun.quickly("timers", out);
        assertThat(rows).hasSize(10 + 2 * 5 * 8);
        assertThat(SuiteRun.value(rows, "wait of 50 us", "Caravan", "nothing stored", "waits"))
                .isPositive();
        assertThat(SuiteRun.value(
                        rows, "wait of 10,000 us", "ScheduledExecutorService", "nothing stored", "overshoot p50, us"))
                .isPositive();
        SuiteRun.assertPictures(out, "timers", "idle-p50", "idle-p99", "busy-p50", "busy-p99");
    }
}
