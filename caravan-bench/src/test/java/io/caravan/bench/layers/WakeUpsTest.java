package io.caravan.bench.layers;

import static org.assertj.core.api.Assertions.assertThat;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class WakeUpsTest {
    private static final int COUNT = 20;

    @Test
    void everyWakeUpIsTimedOnce() throws InterruptedException {
        Histogram nanos = new WakeUps(COUNT).run();
        assertThat(nanos.getTotalCount()).isEqualTo(COUNT);
        assertThat(nanos.getValueAtPercentile(50)).isPositive();
    }
}
