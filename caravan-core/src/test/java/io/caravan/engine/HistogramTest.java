package io.caravan.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.caravan.StoreStats.Distribution;
import io.caravan.testing.Seeds;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HistogramTest {

    @Test
    void emptyHistogramReturnsEmptyDistribution() {
        assertThat(new Histogram().read()).isEqualTo(Distribution.EMPTY);
    }

    @Test
    void smallValuesAreExact() {
        Histogram histogram = new Histogram();
        for (int value = 0; value < 16; value++) {
            histogram.record(value);
        }
        assertThat(histogram.read()).isEqualTo(new Distribution(16, 7.5, 7, 14, 15, 15, 15));
    }

    @Test
    void countsExtremeAndNegativeValues() {
        Histogram histogram = new Histogram();
        histogram.record(Long.MAX_VALUE);
        assertThat(histogram.read().p50()).isEqualTo(Long.MAX_VALUE);
        histogram.record(-5);
        assertThat(histogram.read().p50())
                .as("a negative duration counts as none")
                .isZero();
        assertThat(histogram.read().max()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void quantilesAreAccurateToOneSixteenth() {
        Seeds.forEach(20, seed -> {
            Random random = new Random(seed);
            Histogram histogram = new Histogram();
            long[] values = new long[5_000];
            for (int i = 0; i < values.length; i++) {
                values[i] = (long) Math.exp(random.nextDouble() * 40);
                histogram.record(values[i]);
            }
            Arrays.sort(values);
            Distribution read = histogram.read();
            assertThat(read.count()).isEqualTo(values.length);
            assertThat(read.max()).isEqualTo(values[values.length - 1]);
            double mean = Arrays.stream(values).asDoubleStream().average().orElseThrow();
            assertThat(read.mean()).isCloseTo(mean, within(mean * 1e-9));
            assertQuantile(read.p50(), values, 0.5);
            assertQuantile(read.p90(), values, 0.9);
            assertQuantile(read.p99(), values, 0.99);
            assertQuantile(read.p999(), values, 0.999);
        });
    }

    private static void assertQuantile(long read, long[] sorted, double fraction) {
        long exact = sorted[(int) Math.ceil(fraction * sorted.length) - 1];
        assertThat(read).isBetween(exact, exact + exact / 16);
    }
}
