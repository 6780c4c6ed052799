package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.caravan.ListInfo;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests trims and deletions: the removed and the remaining values, and the results that callbacks receive. */
public interface TrimContract extends ContractFixture {

    private long trim(long id, long count) {
        return awaitWrite(reported -> store().trim(id, count, reported));
    }

    private long trimTo(long id, long firstSequence) {
        return awaitWrite(reported -> store().trimTo(id, firstSequence, reported));
    }

    private long delete(long id) {
        return awaitWrite(reported -> store().delete(id, reported));
    }

    @Test
    default void trimRemovesOldestAndReturnsFirstRetained() {
        append(store(), 1, "a", "b", "c", "d");
        assertThat(trim(1, 1)).isEqualTo(1);
        assertThat(trim(1, 2)).isEqualTo(3);
        assertThat(texts(store(), 1)).containsExactly("3:d");
    }

    @Test
    default void trimOfZeroReturnsFirstRetained() {
        append(store(), 1, "a", "b", "c");
        trim(1, 1);
        assertThat(trim(1, 0)).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("1:b", "2:c");
    }

    @Test
    default void trimBeyondSizeEmptiesListAndKeepsNextSequence() {
        append(store(), 1, "a", "b");
        assertThat(trim(1, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 2, 2, 0));
        assertThat(trim(1, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("2:c");
    }

    @Test
    default void trimToRemovesOlderAndReturnsFirstRetained() {
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
    default void trimToBeyondEndEmptiesListAndKeepsNextSequence() {
        append(store(), 1, "a", "b");
        assertThat(trimTo(1, 100)).isEqualTo(2);
        assertThat(trimTo(1, Long.MAX_VALUE)).isEqualTo(2);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
    }

    @Test
    default void trimToEndEmptiesList() {
        append(store(), 1, "a", "b");
        assertThat(trimTo(1, 2)).isEqualTo(2);
        assertThat(texts(store(), 1)).isEmpty();
    }

    @Test
    default void trimsDoNotChangeSequences() {
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
    default void trimOfMissingListDoesNotCreateIt() {
        assertThat(trim(1, 3)).isEqualTo(0);
        assertThat(trimTo(1, 3)).isEqualTo(0);
        assertThat(store().info(1)).isNull();
        assertThat(append(store(), 1, "a")).isEqualTo(0);
    }

    @Test
    default void emptiedListStillExists() {
        append(store(), 1, "a", "b");
        trim(1, 2);
        List<Long> ids = new ArrayList<>();
        store().forEachList(ids::add);
        assertThat(ids).containsExactly(1L);
        assertThat(store().info(1)).isNotNull();
    }

    @Test
    default void trimToRemovesThousandsOfEntries() {
        for (int i = 0; i < 5_000; i++) {
            store().append(1, bytes("v" + i), NO_CALLBACK);
        }
        assertThat(trimTo(1, 4_998)).isEqualTo(4_998);
        assertThat(texts(store(), 1)).containsExactly("4998:v4998", "4999:v4999");
    }

    @Test
    default void deletedListNoLongerExists() {
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
    default void appendAfterDeleteRestartsSequenceAtZero() {
        append(store(), 1, "a", "b");
        trim(1, 1);
        delete(1);
        assertThat(append(store(), 1, "c")).isEqualTo(0);
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 0, 1, 1));
        assertThat(texts(store(), 1)).containsExactly("0:c");
    }

    @Test
    default void deleteOfMissingListSucceeds() {
        assertThat(delete(1)).isEqualTo(-1);
        append(store(), 2, "a");
        assertThat(delete(2)).isEqualTo(-1);
        assertThat(delete(2)).isEqualTo(-1);
    }

    @Test
    default void deletedLongListReadsEmptyImmediately() {
        for (int i = 0; i < 5_000; i++) {
            store().append(1, bytes("v" + i), NO_CALLBACK);
        }
        Completions completions = new Completions();
        store().delete(1, completions.callback(1));
        assertThat(texts(store(), 1)).isEmpty();
        completions.await(1);
    }

    @Test
    default void trimsAndDeletesAreVisibleOnceAccepted() {
        Completions completions = new Completions();
        append(store(), 1, "a", "b", "c");
        store().trim(1, 1, completions.callback(1));
        assertThat(texts(store(), 1)).containsExactly("1:b", "2:c");
        store().trimTo(1, 2, completions.callback(2));
        assertThat(texts(store(), 1)).containsExactly("2:c");
        store().delete(1, completions.callback(3));
        assertThat(texts(store(), 1)).isEmpty();
        completions.await(3);
    }

    @Test
    default void trimRejectsNegativeCountOrSequence() {
        append(store(), 1, "a");
        Completions completions = new Completions();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().trim(1, -1, completions.callback(1)))
                .withMessageContaining("count");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().trimTo(1, -1, completions.callback(2)))
                .withMessageContaining("firstSequence");
        assertThatIllegalArgumentException().isThrownBy(() -> store().trim(1, Long.MIN_VALUE, completions.callback(3)));
        append(store(), 1, "b");
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(completions.all()).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway")
    default void trimAndDeleteRejectNullCallback() {
        append(store(), 1, "a");
        assertThatNullPointerException().isThrownBy(() -> store().trim(1, 1, null));
        assertThatNullPointerException().isThrownBy(() -> store().trimTo(1, 1, null));
        assertThatNullPointerException().isThrownBy(() -> store().delete(1, null));
        assertThat(texts(store(), 1)).containsExactly("0:a");
    }
}
