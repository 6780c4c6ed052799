package io.caravan.torture.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.torture.model.Intent.Call;
import io.caravan.torture.model.Intent.Kind;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.server.RespModel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the checker's verdicts on invented rounds with one list, to which three pushes append a value each. */
class CheckerTest {
    private static final long ID = 1;
    private static final Intent FIRST = push(0);
    private static final Intent SECOND = push(1);
    private static final Intent THIRD = push(2);

    private final Ledger ledger = new Ledger(2);

    CheckerTest() {
        List.of(FIRST, SECOND, THIRD).forEach(ledger::intend);
        ledger.acknowledged(FIRST, 1);
    }

    /** Returns an intent to push a value to list 1, which belongs to the second of two workers. */
    private static Intent push(int count) {
        return new Intent(Intent.number(1, 1, count), Call.APPEND, List.of(new Operation(Kind.APPEND, ID, 30)));
    }

    private List<String> problems(boolean smallDisk, Intent... left) {
        return new Checker(new Lists(2, 2), smallDisk)
                .check(new RespModel(), ledger, after(left))
                .problems();
    }

    private static RespModel after(Intent... intents) {
        RespModel model = new RespModel();
        List.of(intents).forEach(model::apply);
        return model;
    }

    private void sighting(int completed, Intent... seen) {
        ListModel list = after(seen).list(ID);
        ledger.saw(new Sightings.Sighting(
                ID, completed, (list == null ? new ListModel(0) : list).digest(), "another saw it"));
    }

    @Test
    void acceptsAnyPrefixWithAcknowledgedWrites() {
        assertThat(problems(false, FIRST)).isEmpty();
        assertThat(problems(false, FIRST, SECOND)).isEmpty();
        assertThat(problems(false, FIRST, SECOND, THIRD)).isEmpty();
    }

    @Test
    void rejectsLossOfAcknowledgedWrite() {
        assertThat(problems(false)).anyMatch(problem -> problem.contains("is missing"));
    }

    @Test
    void rejectsLaterWriteWithoutEarlierOne() {
        assertThat(problems(false, FIRST, THIRD)).anyMatch(problem -> problem.contains("not as acknowledged"));
    }

    @Test
    void requiresWriteSeenByRead() {
        sighting(1, FIRST, SECOND);
        assertThat(problems(false, FIRST, SECOND)).isEmpty();
        assertThat(problems(false, FIRST)).anyMatch(problem -> problem.contains("another saw it"));
    }

    @Test
    void rejectsReadThatLacksAcknowledgedWrite() {
        sighting(1);
        assertThat(problems(false, FIRST)).anyMatch(problem -> problem.contains("another saw it"));
    }

    @Test
    void acceptsReadWithOrWithoutPendingWrite() {
        sighting(0);
        sighting(0, FIRST);
        assertThat(problems(false, FIRST)).isEmpty();
    }

    @Test
    void requiresAbsenceOfWriteRejectedForSpace() {
        ledger.rejectedForSpace(SECOND, "no space");
        assertThat(problems(true, FIRST, THIRD)).isEmpty();
        assertThat(problems(true, FIRST, SECOND)).anyMatch(problem -> problem.contains("not as acknowledged"));
    }

    @Test
    void reportsRejectionDespiteFreeSpace() {
        ledger.rejectedForSpace(SECOND, "no space");
        assertThat(problems(false, FIRST)).anyMatch(problem -> problem.contains("although there is enough"));
    }

    @Test
    void reportsWrongResult() {
        ledger.acknowledged(SECOND, 5);
        assertThat(problems(false, FIRST, SECOND))
                .anyMatch(problem -> problem.contains("got the result 5 instead of 2"));
    }
}
