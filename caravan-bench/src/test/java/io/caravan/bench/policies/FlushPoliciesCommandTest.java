package io.caravan.bench.policies;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the measurement with tiny counts, to keep it working. */
class FlushPoliciesCommandTest {
    @TempDir
    private Path out;

    @Test
    @Tag("thorough")
    void measuresEveryPolicyAtEveryRate() throws IOException {
        JsonNode rows = SuiteRun.quickly("flush-policies", out);
        assertThat(rows).hasSize((PolicySweep.RATES.size() + 1) * (NamedPolicy.ALL.size() + 1));
        for (NamedPolicy policy : NamedPolicy.ALL) {
            for (String figure : new String[] {"p50, us", "p99, us", "forces/s", "appends/s"}) {
                assertThat(SuiteRun.value(rows, "1,000 appends/s offered", policy.name(), "SYNC", figure))
                        .as(figure)
                        .isPositive();
            }
        }
        assertThat(SuiteRun.value(rows, "1,000 appends/s offered", "the machine", "forced", "W*, us"))
                .isPositive();
        SuiteRun.assertPictures(out, "flush-policies", "latency", "tail", "forces");
    }

    @Test
    void theBestWaitIsTheRootOfForceTimeOverArrivals() {
        assertThat(PolicySweep.bestWaitMicros(400, 10_000)).isEqualTo(200);
        assertThat(PolicySweep.bestWaitMicros(400, 1_000_000)).isEqualTo(20);
    }
}
