package io.caravan.bench.patterns;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class WritePatternsCommandTest {
    @TempDir
    private Path out;

    @Test
    void measuresEveryPatternAtEverySizeItTakes() throws IOException {
        JsonNode rows = SuiteRun.quickly("write-patterns", out);
        assertThat(rows).hasSize(10 + 8 * 9 + 5 + 7 * 9 + 5 + 7 * 7 + 1);
        assertThat(SuiteRun.value(rows, "writes of 16 B", "held open, growing", "forced each write", "MB/s"))
                .isPositive();
        assertThat(SuiteRun.value(
                        rows, "writes of 64 KiB", "the machine: a force of 64 KiB", "forced every 64 KiB", "MB/s"))
                .isPositive();
        SuiteRun.assertPictures(out, "write-patterns", "unforced", "forced", "batched");
    }
}
