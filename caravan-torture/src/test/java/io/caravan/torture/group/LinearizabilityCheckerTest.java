package io.caravan.torture.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.torture.group.LinearizabilityChecker.Change;
import io.caravan.torture.group.LinearizabilityChecker.Read;
import io.caravan.torture.model.ListModel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which results of reads the checker accepts as linearizable. The times are invented. */
class LinearizabilityCheckerTest {
    private static final long LIST = 7;

    private final List<Change> changes = new ArrayList<>();
    private final List<Read> reads = new ArrayList<>();

    private void appended(long number, long sent, long completed, long sequence) {
        changes.add(new Change(NodeCall.append(LIST, number, 40), sent, completed, sequence));
    }

    private void unknown(NodeCall call, long sent) {
        changes.add(new Change(call, sent, LinearizabilityChecker.NEVER, ListHistory.UNKNOWN));
    }

    private void read(long began, long ended, @Nullable ListModel seen) {
        reads.add(new Read(began, ended, seen, "a"));
    }

    private @Nullable String problem() {
        return LinearizabilityChecker.problem(LIST, null, changes, reads);
    }

    private static ListModel list(long first, long... numbers) {
        ListModel list = new ListModel(first);
        for (long number : numbers) {
            list.append(ByteBuffer.wrap(NodeCall.append(LIST, number, 40).value()));
        }
        return list;
    }

    @Test
    void acceptsAnyStateDuringRead() {
        appended(1, 10, 20, 0);
        appended(2, 30, 40, 1);
        read(0, 5, null);
        read(12, 15, null);
        read(16, 19, list(0, 1));
        read(25, 35, list(0, 1, 2));
        read(36, 50, list(0, 1, 2));
        assertThat(problem()).isNull();
    }

    @Test
    void rejectsReadThatLacksAcknowledgedWrite() {
        appended(1, 10, 20, 0);
        appended(2, 30, 40, 1);
        read(41, 50, list(0, 1));
        assertThat(problem()).contains("at node a returned [0, 1)", "it was one of [0, 2)");
    }

    @Test
    void acceptsReadThatLacksConcurrentWrite() {
        appended(1, 10, 20, 0);
        appended(2, 30, 40, 1);
        read(39, 50, list(0, 1));
        assertThat(problem()).isNull();
    }

    @Test
    void rejectsReadOfWriteSentLater() {
        appended(1, 10, 20, 0);
        appended(2, 30, 40, 1);
        read(25, 29, list(0, 1, 2));
        assertThat(problem()).contains("at node a returned [0, 2)", "it was one of [0, 1)");
    }

    @Test
    void rejectsOlderStateInLaterRead() {
        appended(1, 10, 50, 0);
        read(20, 25, list(0, 1));
        read(30, 35, null);
        assertThat(problem()).contains("returned missing");
    }

    @Test
    void acceptsOlderStateInConcurrentRead() {
        appended(1, 10, 50, 0);
        read(20, 31, list(0, 1));
        read(30, 35, null);
        assertThat(problem()).isNull();
    }

    @Test
    void rejectsReorderedValues() {
        appended(1, 10, 20, 0);
        appended(2, 30, 40, 1);
        read(41, 50, list(0, 2, 1));
        assertThat(problem()).contains("returned [0, 2), which was its state at no moment");
    }

    @Test
    void unknownWriteCanTakeEffectLateButNotRevert() {
        appended(1, 10, 20, 0);
        unknown(NodeCall.append(LIST, 2, 40), 30);
        read(35, 40, list(0, 1));
        read(50, 60, list(0, 1, 2));
        assertThat(problem()).isNull();
        read(70, 80, list(0, 1));
        assertThat(problem()).contains("returned [0, 1)", "it was one of [0, 2)");
    }

    @Test
    void readSettlesOutcomeOfUnknownWrite() {
        unknown(NodeCall.append(LIST, 1, 40), 10);
        read(15, 20, list(0, 1));
        appended(2, 30, 40, 0);
        assertThat(problem()).contains("does not follow from the earlier changes");
    }

    @Test
    void rejectsUnknownWriteAfterLaterWrite() {
        unknown(NodeCall.append(LIST, 1, 40), 10);
        appended(2, 30, 40, 0);
        read(41, 50, list(0, 2));
        assertThat(problem()).isNull();
        read(60, 70, list(0, 2, 1));
        assertThat(problem()).contains("returned [0, 2)");
    }

    @Test
    void checksReadsAgainstTrimsAndDeletes() {
        appended(1, 10, 20, 0);
        appended(2, 21, 22, 1);
        changes.add(new Change(NodeCall.trim(LIST, 1), 30, 40, 1));
        read(35, 36, list(1, 2));
        read(45, 46, list(1, 2));
        changes.add(new Change(NodeCall.delete(LIST), 50, 60, -1));
        read(61, 62, null);
        assertThat(problem()).isNull();
        read(63, 64, list(1, 2));
        assertThat(problem()).contains("returned [1, 2)", "it was one of missing");
    }

    @Test
    void rejectsReadThatLacksAcknowledgedTrim() {
        appended(1, 10, 20, 0);
        appended(2, 21, 22, 1);
        changes.add(new Change(NodeCall.trim(LIST, 1), 30, 40, 1));
        read(45, 46, list(0, 1, 2));
        assertThat(problem()).contains("returned [0, 2)", "it was one of [1, 2)");
    }
}
