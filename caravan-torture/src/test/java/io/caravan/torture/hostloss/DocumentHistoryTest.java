package io.caravan.torture.hostloss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.torture.hostloss.DocumentHistory.Finding;
import io.caravan.torture.model.ListModel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests the verdicts of {@link DocumentHistory} on invented restores of one document. The document gets two values at
 * time 10 and a third at 20. The first value is trimmed at 30. The document is deleted at 40 and recreated with one
 * value at 50. One more value is in flight.
 */
class DocumentHistoryTest {
    private static final int NUMBER = 7;
    private static final long NOTHING = 0;

    private final DocumentHistory history = new DocumentHistory(NUMBER);
    private final List<byte[]> values = new ArrayList<>();

    DocumentHistoryTest() {
        append(2, 10);
        append(1, 20);
        history.trim(1);
        history.acknowledged(30);
        history.delete();
        history.acknowledged(40);
        append(1, 50);
        values.addAll(history.append(1));
    }

    private void append(int count, long acknowledgedNanos) {
        values.addAll(history.append(count));
        history.acknowledged(acknowledgedNanos);
    }

    private ListModel found(long firstSequence, int firstValue, int lastValue) {
        return found(firstSequence, values.subList(firstValue, lastValue + 1));
    }

    private static ListModel found(long firstSequence, List<byte[]> foundValues) {
        try {
            return FoundDocuments.document(firstSequence, firstSequence + foundValues.size(), foundValues);
        } catch (IOException unlike) {
            throw new AssertionError(unlike);
        }
    }

    @Test
    void acceptsAnySufficientlyRecentState() {
        assertThat(history.find(null, NOTHING).problem()).isNull();
        assertThat(history.find(found(0, 0, 1), 19).problem()).isNull();
        assertThat(history.find(found(0, 0, 2), 29).problem()).isNull();
        assertThat(history.find(found(1, 1, 2), 39).problem()).isNull();
        assertThat(history.find(null, 49).problem()).isNull();
        assertThat(history.find(found(0, 3, 3), 99).problem()).isNull();
    }

    @Test
    void acceptsUnacknowledgedValue() {
        Finding finding = history.find(found(0, 3, 4), 99);
        assertThat(finding.problem()).isNull();
        assertThat(finding.lost()).isZero();
    }

    @Test
    void countsLostChanges() {
        Finding finding = history.find(found(0, 0, 2), 29);
        assertThat(finding.lost()).isEqualTo(3);
        assertThat(finding.lostSinceNanos()).isEqualTo(30);
    }

    @Test
    void reportsOutdatedState() {
        assertThat(history.find(found(0, 0, 1), 20).problem())
                .contains("as it was ([0, 2))", "must be at least: [0, 3)");
        assertThat(history.find(found(0, 0, 2), 30).problem())
                .contains("before 1 changes that the archive must contain");
    }

    @Test
    void reportsMissingDocument() {
        assertThat(history.find(null, 99).problem()).contains("as it was (missing)");
    }

    @Test
    void reportsResurrectedDocument() {
        assertThat(history.find(found(1, 1, 2), 40).problem()).contains("must be at least: missing");
    }

    @Test
    void reportsStateThatNeverExisted() {
        assertThat(history.find(found(1, 1, 1), NOTHING).problem()).contains("which matches no moment");
        assertThat(history.find(found(0, 0, 3), NOTHING).problem()).contains("which matches no moment");
    }

    @Test
    void reportsValuesOfEarlierIncarnation() {
        assertThat(history.find(found(0, 0, 0), 99).problem()).contains("sequence 0 should be value number");
    }

    @Test
    void reportsWrongByte() {
        byte[] wrong = values.get(1).clone();
        wrong[0]++;
        List<byte[]> foundValues = List.of(values.get(0), wrong, values.get(2));
        assertThat(history.find(found(0, foundValues), NOTHING).problem())
                .contains("sequence 1 should be value number");
    }

    @Test
    void reportsMissingValue() {
        assertThatThrownBy(() -> FoundDocuments.document(0, 3, values.subList(0, 2)))
                .hasMessage("CARAVAN.INFO gives the sequences from 0 to 3, exclusive, but LRANGE returns 2 values");
    }

    @Test
    void discardsLostStatesAfterRestore() {
        history.continueFrom(history.find(found(0, 0, 1), 19));
        List<byte[]> other = history.append(1);
        history.acknowledged(100);
        List<byte[]> foundValues = List.of(values.get(0), values.get(1), other.get(0));
        assertThat(history.find(found(0, foundValues), 100).problem()).isNull();
        assertThat(history.find(found(0, 0, 2), NOTHING).problem()).contains("sequence 2 should be value number");
        assertThat(history.find(null, NOTHING).problem()).contains("does not exist, which matches no moment");
    }
}
