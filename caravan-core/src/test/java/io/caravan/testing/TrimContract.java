package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.told;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.caravan.ListInfo;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Trims and deletions: the removed and remaining values, and the result for the callback. */
public interface TrimContract extends ContractFixture {

    private long trim(long id, long count) {
        return told(told -> store().trim(id, count, told));
    }

    private long trimTo(long id, long firstSequence) {
        return told(told -> store().trimTo(id, firstSequence, told));
    }

    private long delete(long id) {
        return told(told -> store().delete(id, told));
    }

    @Test
    default void aTrimDropsEntriesFromTheHeadAndTellsTheFirstRetained() {
        append(store(), 1, "a", "b", "c", "d");
        assertThat(trim(1, 1)).isEqualTo(1);
        assertThat(trim(1, 2)).isEqualTo(3);
        assertThat(texts(store(), 1)).containsExactly("3:d");
    }

    @Test
    default void trimmingNothingTellsTheFirstRetained() {
        append(store(), 1, "a", "b", "c");
        trim(1, 1);
        assertThat(trim(1, 0)).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("1:b", "2:c");
    }

    @Test
    default void trimmingMoreThanThereIsEmptiesTheListAndKeepsItsNextSequence() {
        append(store(), 1, "a", "b");
        assertThat(trim(1, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 2, 2, 0));
        assertThat(trim(1, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("2:c");
    }

    @Test
    default void trimToDropsWhatIsBeforeAndTellsTheFirstRetained() {
        append(store(), 1, "a", "b", "c", "d");
        assertThat(trimTo(1, 2)).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("2:c", "3:d");
    }

    @Test
    default void trimToIsIdempotent() {
        append(store(), 1, "a", "b", "c", "d");
        assertThat(trimTo(1, 3)).isEqualTo(3);
        assertThat(trimTo(1, 3)).isEqualTo(3);
        assertThat(trimTo(1, 1)).isEqualTo(3);
        assertThat(trimTo(1, 0)).isEqualTo(3);
        assertThat(texts(store(), 1)).containsExactly("3:d");
    }

    @Test
    default void trimToPastTheEndEmptiesTheListAndKeepsItsNextSequence() {
        append(store(), 1, "a", "b");
        assertThat(trimTo(1, 100)).isEqualTo(2);
        assertThat(trimTo(1, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
    }

    @Test
    default void trimToTheEndEmptiesTheList() {
        append(store(), 1, "a", "b");
        assertThat(trimTo(1, 2)).isEqualTo(2);
        assertThat(texts(store(), 1)).isEmpty();
    }

    @Test
    default void trimsNeverShiftSequences() {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            assertThat(append(store(), 1, "v" + i)).isEqualTo(i);
            expected.add(i + ":v" + i);
            if (i % 3 == 2) {
                trim(1, 2);
                expected.subList(0, 2).clear();
            }
            assertThat(texts(store(), 1)).isEqualTo(expected);
        }
    }

    @Test
    default void aMissingListStaysMissingWhenTrimmed() {
        assertThat(trim(1, 3)).isEqualTo(0);
        assertThat(trimTo(1, 3)).isEqualTo(0);
        assertThat(store().info(1)).isNull();
        assertThat(append(store(), 1, "a")).isEqualTo(0);
    }

    @Test
    default void anEmptiedListIsStillThere() {
        append(store(), 1, "a", "b");
        trim(1, 2);
        List<Long> ids = new ArrayList<>();
        store().forEachList(ids::add);
        assertThat(ids).containsExactly(1L);
        assertThat(store().info(1)).isNotNull();
    }

    @Test
    default void aTrimOfManyEntriesDropsThemAll() {
        for (int i = 0; i < 5_000; i++) {
            store().append(1, bytes("v" + i), NOBODY);
        }
        assertThat(trimTo(1, 4_998)).isEqualTo(4_998);
        assertThat(texts(store(), 1)).containsExactly("4998:v4998", "4999:v4999");
    }

    @Test
    default void aDeletedListIsGone() {
        append(store(), 1, "a", "b");
        append(store(), 2, "x");
        assertThat(delete(1)).isEqualTo(-1);
        assertThat(store().info(1)).isNull();
        assertThat(texts(store(), 1)).isEmpty();
        assertThat(texts(store(), 1, 1)).isEmpty();
        List<Long> ids = new ArrayList<>();
        store().forEachList(ids::add);
        assertThat(ids).containsExactly(2L);
    }

    @Test
    default void appendingToADeletedListStartsANewOneAtZero() {
        append(store(), 1, "a", "b");
        trim(1, 1);
        delete(1);
        assertThat(append(store(), 1, "c")).isEqualTo(0);
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 0, 1, 1));
        assertThat(texts(store(), 1)).containsExactly("0:c");
    }

    @Test
    default void deletingAMissingListIsASuccess() {
        assertThat(delete(1)).isEqualTo(-1);
        append(store(), 2, "a");
        assertThat(delete(2)).isEqualTo(-1);
        assertThat(delete(2)).isEqualTo(-1);
    }

    @Test
    default void aLongListIsGoneAtOnceWhenDeleted() {
        for (int i = 0; i < 5_000; i++) {
            store().append(1, bytes("v" + i), NOBODY);
        }
        Tellings tellings = new Tellings();
        store().delete(1, tellings.callback(1));
        assertThat(texts(store(), 1)).isEmpty();
        tellings.await(1);
    }

    @Test
    default void trimsAndDeletionsAreReadAsSoonAsTheyAreAccepted() {
        Tellings tellings = new Tellings();
        append(store(), 1, "a", "b", "c");
        store().trim(1, 1, tellings.callback(1));
        assertThat(texts(store(), 1)).containsExactly("1:b", "2:c");
        store().trimTo(1, 2, tellings.callback(2));
        assertThat(texts(store(), 1)).containsExactly("2:c");
        store().delete(1, tellings.callback(3));
        assertThat(texts(store(), 1)).isEmpty();
        tellings.await(3);
    }

    @Test
    default void aNegativeCountOrSequenceIsAMistake() {
        append(store(), 1, "a");
        Tellings tellings = new Tellings();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().trim(1, -1, tellings.callback(1)))
                .withMessageContaining("count");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().trimTo(1, -1, tellings.callback(2)))
                .withMessageContaining("firstSequence");
        assertThatIllegalArgumentException().isThrownBy(() -> store().trim(1, Long.MIN_VALUE, tellings.callback(3)));
        append(store(), 1, "b");
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(tellings.all()).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway")
    default void aTrimOrDeletionForNobodyIsAMistake() {
        append(store(), 1, "a");
        assertThatNullPointerException().isThrownBy(() -> store().trim(1, 1, null));
        assertThatNullPointerException().isThrownBy(() -> store().trimTo(1, 1, null));
        assertThatNullPointerException().isThrownBy(() -> store().delete(1, null));
        assertThat(texts(store(), 1)).containsExactly("0:a");
    }
}
