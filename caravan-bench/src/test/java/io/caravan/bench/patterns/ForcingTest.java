package io.caravan.bench.patterns;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When it is time to force. */
class ForcingTest {

    @Test
    void isDueAfterEachWriteOrAfterABatchOrNever() {
        assertThat(Forcing.EACH.due(16)).isTrue();
        assertThat(Forcing.BATCH.due(Forcing.BATCH_BYTES - 16)).isFalse();
        assertThat(Forcing.BATCH.due(Forcing.BATCH_BYTES)).isTrue();
        assertThat(Forcing.NEVER.due(Long.MAX_VALUE)).isFalse();
    }
}
