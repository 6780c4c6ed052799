package io.caravan.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the shard suite with tiny counts. */
class ShardsCommandTest {
    @TempDir
    private Path out;

    @Test
    void measuresStoresAndDisk() throws IOException {
        JsonNode rows = SuiteRun.quickly("shards", out);
        String workload = "64 writers that wait for each, by shards";
        assertThat(rows).hasSize(6);
        assertThat(SuiteRun.value(rows, workload, "Caravan, 1 shard", "SYNC", "appends/s"))
                .isPositive();
        assertThat(SuiteRun.value(rows, workload, "Caravan, 4 shards", "SYNC", "fsyncs/s"))
                .isPositive();
        assertThat(SuiteRun.value(rows, workload, "the machine, 4 files", "fsynced", "fsyncs/s"))
                .isPositive();
        SuiteRun.assertPictures(out, "shards", "shards");
    }
}
