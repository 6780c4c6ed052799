package io.caravan.bench.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class NinesTest {
    @Test
    void convertsPowersOfTenToNines() {
        assertThat(Nines.percentile(1)).isZero();
        assertThat(Nines.percentile(10)).isCloseTo(90, within(1e-9));
        assertThat(Nines.percentile(1_000)).isCloseTo(99.9, within(1e-9));
        assertThat(Nines.label(1)).isEqualTo("0 %");
        assertThat(Nines.label(100)).isEqualTo("99 %");
        assertThat(Nines.label(10_000)).isEqualTo("99.99 %");
    }

    @Test
    void positionsEndAtValueCount() {
        assertThat(Nines.upTo(0)).containsExactly(1.0);
        assertThat(Nines.upTo(1_000)).hasSize(61).startsWith(1.0);
        assertThat(Nines.upTo(1_000).get(60)).isCloseTo(1_000, within(1e-6));
    }
}
