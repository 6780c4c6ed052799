package io.caravan.bench.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.MemoryListStore;
import io.caravan.bench.engine.Workload;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Times count from when appends were due, and all sent appends are counted. */
class AckTimesTest {

    @Test
    void countsFromWhenAnAppendWasDue() {
        AckTimes times = new AckTimes(System.nanoTime() - TimeUnit.SECONDS.toNanos(10), TimeUnit.SECONDS.toNanos(4));
        times.success(0);
        times.success(1);
        assertThat(times.count()).isEqualTo(2);
        assertThat(times.nanos().getMaxValue()).isGreaterThanOrEqualTo(TimeUnit.SECONDS.toNanos(10));
        assertThat(times.nanos().getMinValue()).isLessThan(TimeUnit.SECONDS.toNanos(10));
    }

    @Test
    void sendsAllThatIsDue() throws InterruptedException, ExecutionException {
        try (MemoryListStore store = new MemoryListStore()) {
            AckTimes times =
                    new OpenLoopAppends(Workload.small(1), 10_000, TimeUnit.MILLISECONDS.toNanos(10)).run(store);
            assertThat(times.count())
                    .isBetween(1L, 100L)
                    .isEqualTo(store.stats().appends());
            assertThat(times.nanos().getTotalCount()).isEqualTo(times.count());
        }
    }
}
