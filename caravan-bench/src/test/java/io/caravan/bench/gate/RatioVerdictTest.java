package io.caravan.bench.gate;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.bench.gate.Ceilings.Ceiling;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RatioVerdictTest {

    @Test
    void comparesMedianWithCeiling() {
        assertThat(verdict(1, 1, 3, 9, 9).over()).isTrue();
        assertThat(verdict(1, 1, 2, 9, 9).over()).isFalse();
        RatioVerdict verdict = verdict(5, 1, 3);
        assertThat(verdict.min()).isEqualTo(1);
        assertThat(verdict.median()).isEqualTo(3);
        assertThat(verdict.max()).isEqualTo(5);
    }

    @Test
    void isSettledWhenMiddleHalfAgrees() {
        assertThat(verdict(1, 1, 1, 1, 9).settled()).isTrue();
        assertThat(verdict(1, 9, 9, 9, 9).settled()).isTrue();
        assertThat(verdict(1, 1, 2, 9, 9).settled()).isFalse();
    }

    @Test
    void computesMedianOfOddAndEvenCounts() {
        assertThat(Costs.median(3L, 1L, 2L)).isEqualTo(2);
        assertThat(Costs.median(4.0, 1.0, 3.0, 2.0)).isEqualTo(3);
    }

    @Test
    void everyRatioHasCeilingWithMeaningAndAdvice() throws IOException {
        for (boolean quick : new boolean[] {true, false}) {
            assertThat(Ceilings.read(quick)).containsOnlyKeys(Ratio.values()).allSatisfy((ratio, ceiling) -> {
                assertThat(ceiling.most()).isPositive();
                assertThat(ceiling.meaning()).isNotEmpty();
                assertThat(ceiling.advice()).isNotEmpty();
            });
        }
    }

    /** Returns a verdict with a ceiling of 2. */
    private static RatioVerdict verdict(double... rounds) {
        Ceiling ceiling = new Ceiling("", 2, "");
        return new RatioVerdict(
                Ratio.FLATNESS, ceiling, Arrays.stream(rounds).boxed().toList());
    }
}
