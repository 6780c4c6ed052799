package io.caravan.torture.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.torture.model.ListModel;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Tests which results of changes and reads a {@link ListHistory} accepts and which it rejects. */
final class ListHistoryTest {
    private static final long LIST = 7;
    private static final long LONG_AGO = 0;

    private final ListHistory history = new ListHistory(LIST);

    @Test
    void acceptsUnknownWriteAsAbsentOrPresent() {
        history.changed(append(1), 0, LONG_AGO);
        history.changed(append(2), ListHistory.UNKNOWN, LONG_AGO);
        assertThat(history.found(list(1))).isNull();
        history.changed(append(3), ListHistory.UNKNOWN, LONG_AGO);
        assertThat(history.found(list(1, 3))).isNull();
    }

    @Test
    void nextAcknowledgmentSettlesUnknownWrite() {
        history.changed(append(1), 0, LONG_AGO);
        history.changed(append(2), ListHistory.UNKNOWN, LONG_AGO);
        history.changed(append(3), 2, LONG_AGO);
        assertThat(history.found(list(1, 3))).contains("not as acknowledged", "fate unknown");
        assertThat(history.found(list(1, 3))).isNull();
    }

    @Test
    void detectsLossDuplicationAndReordering() {
        history.changed(append(1), 0, LONG_AGO);
        history.changed(append(2), 1, LONG_AGO);
        assertThat(history.found(list(1))).contains("should hold sequences [0, 2), holds [0, 1)");
        assertThat(new ListHistory(LIST).found(list(1))).contains("should be missing");
        assertThat(twoAppended().found(list(1, 2, 2))).contains("not as acknowledged");
        assertThat(twoAppended().found(list(2, 1))).contains("not as acknowledged");
        assertThat(twoAppended().found(null)).contains("is missing");
    }

    @Test
    void detectsUnexplainedSequence() {
        history.changed(append(1), 0, LONG_AGO);
        history.changed(append(2), 5, LONG_AGO);
        assertThat(history.found(list(1))).contains("which nothing acknowledged before explains");
    }

    @Test
    void acceptsUnknownTrimAndAcknowledgedDelete() {
        ListHistory trimmed = twoAppended();
        trimmed.changed(NodeCall.trim(LIST, 1), ListHistory.UNKNOWN, LONG_AGO);
        ListModel rest = list(1, 2);
        rest.trimTo(1);
        assertThat(trimmed.found(rest)).isNull();
        trimmed.changed(NodeCall.delete(LIST), -1, LONG_AGO);
        trimmed.changed(append(4), 0, LONG_AGO);
        assertThat(trimmed.found(list(4))).isNull();
    }

    private static ListHistory twoAppended() {
        ListHistory history = new ListHistory(LIST);
        history.changed(append(1), 0, LONG_AGO);
        history.changed(append(2), 1, LONG_AGO);
        return history;
    }

    private static NodeCall append(long number) {
        return NodeCall.append(LIST, number, 40);
    }

    private static ListModel list(long... numbers) {
        ListModel list = new ListModel(0);
        for (long number : numbers) {
            list.append(ByteBuffer.wrap(append(number).value()));
        }
        return list;
    }
}
