package io.caravan.torture.hostloss;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests which changes a server killed at 100 ns must have archived if a change may stay unarchived for 10 ns. */
class WellTimesTest {
    private static final long BOUND = 10;

    private final WellTimes times = new WellTimes(1);

    @Test
    void excludesChangesYoungerThanBound() {
        times.ends(100);
        assertThat(times.mustBy(BOUND)).isEqualTo(90);
    }

    @Test
    void requiresNothingAfterShortAvailability() {
        times.ends(10);
        assertThat(times.mustBy(BOUND)).isEqualTo(1);
    }

    @Test
    void ignoresShortAvailabilityAfterFault() {
        times.ends(50);
        assertThat(times.mustBy(BOUND)).isEqualTo(40);
        times.beginsAgain(95);
        times.ends(100);
        assertThat(times.mustBy(BOUND)).isEqualTo(40);
    }

    @Test
    void requiresChangesAgainAfterSufficientAvailability() {
        times.ends(50);
        times.beginsAgain(80);
        times.ends(100);
        assertThat(times.mustBy(BOUND)).isEqualTo(90);
    }
}
