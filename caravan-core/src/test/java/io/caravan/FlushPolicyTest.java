package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlushPolicyTest {

    @Test
    void immediateAndAdaptivePoliciesAreSingletons() {
        assertThat(FlushPolicy.immediate()).isSameAs(FlushPolicy.immediate());
        assertThat(FlushPolicy.adaptive()).isSameAs(FlushPolicy.adaptive());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 100_000, 60_000_000_000L})
    void keepsFixedDelayToNanosecond(long nanos) {
        assertThat(FlushPolicy.fixedDelay(Duration.ofNanos(nanos))).isEqualTo(new FlushPolicy(nanos, false));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, 60_000_000_001L, Long.MAX_VALUE})
    void rejectsDelayOutsideZeroToOneMinute(long nanos) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlushPolicy.fixedDelay(Duration.ofNanos(nanos)))
                .withMessageContaining("delay");
        assertThatIllegalArgumentException().isThrownBy(() -> new FlushPolicy(nanos, false));
    }

    @Test
    void rejectsDelayThatOverflowsNanoseconds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlushPolicy.fixedDelay(Duration.ofDays(1_000_000)))
                .withMessageContaining("delay");
        assertThatIllegalArgumentException().isThrownBy(() -> FlushPolicy.fixedDelay(Duration.ofDays(-1_000_000)));
    }

    @Test
    void rejectsNullDelay() {
        assertThatNullPointerException().isThrownBy(() -> FlushPolicy.fixedDelay(null));
    }
}
