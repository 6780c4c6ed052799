package io.caravan.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TimelineTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long START = -5;

    @Test
    void countsAcksByArrivalAndWaitsBySendTime() {
        Timeline timeline = new Timeline(START, 2);
        timeline.sent(START);
        timeline.replied(START, START + SECOND, false);
        Timeline.Second first = timeline.seconds().get(0);
        Timeline.Second second = timeline.seconds().get(1);
        assertThat(first.sentCount()).isEqualTo(1);
        assertThat(first.acks()).isZero();
        assertThat(first.waits().getTotalCount()).isEqualTo(1);
        assertThat(second.acks()).isEqualTo(1);
        assertThat(second.waits().getTotalCount()).isZero();
        assertThat(timeline.waitsFrom(0).getTotalCount()).isEqualTo(1);
        assertThat(timeline.waitsFrom(1).getTotalCount()).isZero();
    }

    @Test
    void recordsReplyAfterLastSecondSeparately() {
        Timeline timeline = new Timeline(START, 1);
        timeline.replied(START, START + 3 * SECOND, true);
        assertThat(timeline.afterEnd().failures()).isEqualTo(1);
        assertThat(timeline.seconds().get(0).failures()).isZero();
    }

    @Test
    void abandonedRequestCountsAsFailureAndWait() {
        Timeline timeline = new Timeline(START, 1);
        timeline.abandoned(START, START + 6 * SECOND);
        Timeline.Second only = timeline.seconds().get(0);
        assertThat(only.failures()).isEqualTo(1);
        assertThat(only.waits().getMaxValue()).isGreaterThanOrEqualTo(5_990_000);
    }
}
