package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.ValueTooLargeException;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the sequences and the values of appends, and the appends that the store rejects. */
public interface AppendContract extends ContractFixture {

    @Test
    default void sequencesCountUpFromZero() {
        assertThat(append(store(), 1, "a")).isEqualTo(0);
        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b", "2:c");
    }

    @Test
    default void eachListHasItsOwnSequences() {
        append(store(), 1, "a", "b");
        assertThat(append(store(), 2, "c")).isEqualTo(0);
        assertThat(append(store(), 1, "d")).isEqualTo(2);
        assertThat(texts(store(), 2)).containsExactly("0:c");
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE + 1L, Long.MAX_VALUE})
    default void anyLongIsValidListId(long id) {
        assertThat(append(store(), id, "a", "b")).isEqualTo(1);
        assertThat(texts(store(), id)).containsExactly("0:a", "1:b");
        assertThat(store().info(id).id()).isEqualTo(id);
    }

    @Test
    default void emptyValueIsStored() {
        assertThat(append(store(), 1, "", "a", "")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("0:", "1:a", "2:");
    }

    @Test
    default void valuesUpToMaximumLengthAreStored() {
        List<Value> expected = new ArrayList<>();
        for (int length : new int[] {0, 1, 7, 8, 9, 63, maxValueBytes() - 1, maxValueBytes()}) {
            byte[] value = bytes(length, length);
            expected.add(Value.of(await(store().append(1, value)), value));
        }
        assertThat(values(store(), 1)).isEqualTo(expected);
    }

    @Test
    default void longListIsStoredCompletely() {
        List<Value> expected = new ArrayList<>();
        CompletableFuture<Long> last = CompletableFuture.completedFuture(-1L);
        for (int i = 0; i < 5_000; i++) {
            byte[] value = bytes(i % 50, i);
            last = store().append(1, value);
            expected.add(Value.of(i, value));
        }
        assertThat(await(last)).isEqualTo(4_999);
        assertThat(values(store(), 1)).isEqualTo(expected);
    }

    @Test
    default void appendCopiesArrayBeforeReturning() {
        byte[] value = bytes("mine");
        CompletableFuture<Long> sequence = store().append(1, value);
        value[0] = 'X';
        await(sequence);
        assertThat(texts(store(), 1)).containsExactly("0:mine");
    }

    @Test
    default void appendCopiesBufferBeforeReturning() {
        ByteBuffer value = ByteBuffer.wrap(bytes("mine"));
        CompletableFuture<Long> sequence = new CompletableFuture<>();
        store().append(1, value, WriteCallback.completing(sequence));
        value.put(0, (byte) 'X');
        await(sequence);
        assertThat(texts(store(), 1)).containsExactly("0:mine");
    }

    static Stream<ByteBuffer> buffersContainingHello() {
        byte[] padded = bytes("<<hello>>");
        ByteBuffer heap = ByteBuffer.wrap(padded, 2, 5);
        ByteBuffer direct = ByteBuffer.allocateDirect(9).put(padded).position(2).limit(7);
        return Stream.of(
                heap,
                heap.slice(),
                heap.asReadOnlyBuffer(),
                direct,
                direct.slice(),
                direct.asReadOnlyBuffer(),
                ByteBuffer.wrap(bytes("<hello>")).slice(1, 6).limit(5));
    }

    @ParameterizedTest
    @MethodSource("io.caravan.testing.AppendContract#buffersContainingHello")
    default void appendsRemainingBytesWithoutMovingBufferPosition(ByteBuffer value) {
        int position = value.position();
        int limit = value.limit();
        assertThat(awaitWrite(reported -> store().append(1, value, reported))).isEqualTo(0);
        assertThat(value.position()).isEqualTo(position);
        assertThat(value.limit()).isEqualTo(limit);
        assertThat(texts(store(), 1)).containsExactly("0:hello");
    }

    @Test
    default void emptyBufferIsStoredAsEmptyValue() {
        awaitWrite(reported -> store().append(1, ByteBuffer.allocate(0), reported));
        assertThat(texts(store(), 1)).containsExactly("0:");
    }

    @Test
    default void tooLargeValueIsRejectedWithoutEffect() {
        append(store(), 1, "a");
        byte[] tooLarge = bytes(maxValueBytes() + 1, 0);
        Completions completions = new Completions();

        assertReportsTooLarge(catchThrowableOfType(
                ValueTooLargeException.class, () -> store().append(1, tooLarge, completions.callback(1))));
        assertReportsTooLarge(catchThrowableOfType(
                ValueTooLargeException.class,
                () -> store().append(2, ByteBuffer.wrap(tooLarge), completions.callback(2))));

        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(store().info(2)).isNull();
        assertThat(completions.all()).isEmpty();
    }

    private void assertReportsTooLarge(ValueTooLargeException rejection) {
        assertThat(rejection.bytes()).isEqualTo(maxValueBytes() + 1L);
        assertThat(rejection.limitBytes()).isEqualTo(maxValueBytes());
    }

    @Test
    default void acceptedAppendIsImmediatelyReadable() {
        for (int i = 0; i < 100; i++) {
            store().append(1, bytes("v" + i), NO_CALLBACK);
            assertThat(texts(store(), 1, i)).containsExactly(i + ":v" + i);
        }
    }

    @Test
    @SuppressWarnings("NullAway")
    default void appendRejectsNullValueAndNullCallback() {
        Completions completions = new Completions();
        assertThatNullPointerException().isThrownBy(() -> store().append(1, (byte[]) null, completions.callback(1)));
        assertThatNullPointerException()
                .isThrownBy(() -> store().append(1, (ByteBuffer) null, completions.callback(2)));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, (byte[]) null));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, bytes("a"), null));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, ByteBuffer.wrap(bytes("a")), null));
        assertThat(append(store(), 1, "b")).isEqualTo(0);
        assertThat(completions.all()).isEmpty();
    }
}
