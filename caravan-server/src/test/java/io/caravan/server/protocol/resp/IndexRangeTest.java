package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.ListCommands.IndexRange;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IndexRangeTest {
    private static final int FIRST_SEQUENCE = 100;

    /** Returns the indexes in a range by applying the Redis rule to each index. */
    private static List<Integer> kept(int length, long start, long stop) {
        List<Integer> kept = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            boolean fromStart = i >= (start < 0 ? length + start : start);
            boolean toStop = i <= (stop < 0 ? length + stop : stop);
            if (fromStart && toStop) {
                kept.add(i);
            }
        }
        return kept;
    }

    @Test
    void matchesRedisForSmallRangesAndLists() {
        for (int length = 0; length <= 5; length++) {
            for (long start = -8; start <= 8; start++) {
                for (long stop = -8; stop <= 8; stop++) {
                    check(length, start, stop);
                }
            }
        }
    }

    private static void check(int length, long start, long stop) {
        String name = length + " elements, " + start + " to " + stop;
        List<Integer> kept = kept(length, start, stop);
        IndexRange range = new IndexRange(start, stop);
        SequenceRange sequences = range.within(FIRST_SEQUENCE, FIRST_SEQUENCE + length);
        assertThat(sequences.count()).as(name).isEqualTo(kept.size());
        if (kept.isEmpty()) {
            assertThat(range.headTrim(length)).as(name).isEqualTo(length);
            return;
        }
        assertThat(sequences.from()).as(name).isEqualTo(FIRST_SEQUENCE + kept.get(0));
        if (kept.get(kept.size() - 1) == length - 1) {
            assertThat(range.headTrim(length)).as(name).isEqualTo(kept.get(0).longValue());
        } else {
            assertThatExceptionOfType(CommandException.class)
                    .as(name)
                    .isThrownBy(() -> range.headTrim(length))
                    .withMessageContaining("only trim values from the head");
        }
    }

    @Test
    void extremeIndexesDoNotOverflow() {
        assertThat(new IndexRange(Long.MIN_VALUE, Long.MAX_VALUE).within(5, 8)).isEqualTo(new SequenceRange(5, 8));
        assertThat(new IndexRange(Long.MAX_VALUE, Long.MIN_VALUE).within(5, 8).count())
                .isZero();
        assertThat(new IndexRange(Long.MIN_VALUE, Long.MAX_VALUE).headTrim(3)).isZero();
    }
}
