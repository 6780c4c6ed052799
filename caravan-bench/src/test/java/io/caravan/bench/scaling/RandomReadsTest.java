package io.caravan.bench.scaling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RandomReadsTest {
    private static final int LINES = 1_000;
    private static final int LINE_BYTES = 64;

    @Test
    void theChainPassesEveryLineBeforeItComesBack() {
        RandomReads reads = new RandomReads(LINES * LINE_BYTES, 1);
        assertThat(reads.cycleLength()).isEqualTo(LINES);
        assertThat(reads.run(1)).isPositive();
    }
}
