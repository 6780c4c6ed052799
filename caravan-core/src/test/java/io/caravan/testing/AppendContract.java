package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.told;
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

/** Appends: their sequences, their values, and the appends that the store rejects. */
public interface AppendContract extends ContractFixture {

    @Test
    default void theFirstValueHasSequenceZeroAndEachFurtherOneTheNext() {
        assertThat(append(store(), 1, "a")).isEqualTo(0);
        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b", "2:c");
    }

    @Test
    default void eachListCountsForItself() {
        append(store(), 1, "a", "b");
        assertThat(append(store(), 2, "c")).isEqualTo(0);
        assertThat(append(store(), 1, "d")).isEqualTo(2);
        assertThat(texts(store(), 2)).containsExactly("0:c");
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE + 1L, Long.MAX_VALUE})
    default void anyLongIsADocument(long id) {
        assertThat(append(store(), id, "a", "b")).isEqualTo(1);
        assertThat(texts(store(), id)).containsExactly("0:a", "1:b");
        assertThat(store().info(id).id()).isEqualTo(id);
    }

    @Test
    default void anEmptyValueIsAValue() {
        assertThat(append(store(), 1, "", "a", "")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("0:", "1:a", "2:");
    }

    @Test
    default void valuesOfAnyLengthUpToTheLimitAreKept() {
        List<Value> expected = new ArrayList<>();
        for (int length : new int[] {0, 1, 7, 8, 9, 63, maxValueBytes() - 1, maxValueBytes()}) {
            byte[] value = bytes(length, length);
            expected.add(Value.of(await(store().append(1, value)), value));
        }
        assertThat(values(store(), 1)).isEqualTo(expected);
    }

    @Test
    default void aLongListIsKeptWhole() {
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
    default void theArrayIsCopiedBeforeAppendReturns() {
        byte[] value = bytes("mine");
        CompletableFuture<Long> sequence = store().append(1, value);
        value[0] = 'X';
        await(sequence);
        assertThat(texts(store(), 1)).containsExactly("0:mine");
    }

    @Test
    default void theBufferIsCopiedBeforeAppendReturns() {
        ByteBuffer value = ByteBuffer.wrap(bytes("mine"));
        CompletableFuture<Long> sequence = new CompletableFuture<>();
        store().append(1, value, WriteCallback.completing(sequence));
        value.put(0, (byte) 'X');
        await(sequence);
        assertThat(texts(store(), 1)).containsExactly("0:mine");
    }

    static Stream<ByteBuffer> buffersThatHoldHello() {
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
    @MethodSource("io.caravan.testing.AppendContract#buffersThatHoldHello")
    default void anyBuffersRemainingBytesAreAppendedAndItsPositionStays(ByteBuffer value) {
        int position = value.position();
        int limit = value.limit();
        assertThat(told(told -> store().append(1, value, told))).isEqualTo(0);
        assertThat(value.position()).isEqualTo(position);
        assertThat(value.limit()).isEqualTo(limit);
        assertThat(texts(store(), 1)).containsExactly("0:hello");
    }

    @Test
    default void anEmptyBufferIsAnEmptyValue() {
        told(told -> store().append(1, ByteBuffer.allocate(0), told));
        assertThat(texts(store(), 1)).containsExactly("0:");
    }

    @Test
    default void aValueOverTheLimitIsRefusedAndNothingChanges() {
        append(store(), 1, "a");
        byte[] tooLarge = bytes(maxValueBytes() + 1, 0);
        Tellings tellings = new Tellings();

        assertSaysTooLarge(catchThrowableOfType(
                ValueTooLargeException.class, () -> store().append(1, tooLarge, tellings.callback(1))));
        assertSaysTooLarge(catchThrowableOfType(
                ValueTooLargeException.class,
                () -> store().append(2, ByteBuffer.wrap(tooLarge), tellings.callback(2))));

        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(store().info(2)).isNull();
        assertThat(tellings.all()).isEmpty();
    }

    private void assertSaysTooLarge(ValueTooLargeException refusal) {
        assertThat(refusal.bytes()).isEqualTo(maxValueBytes() + 1L);
        assertThat(refusal.limitBytes()).isEqualTo(maxValueBytes());
    }

    @Test
    default void anAppendIsReadAsSoonAsItIsAccepted() {
        for (int i = 0; i < 100; i++) {
            store().append(1, bytes("v" + i), NOBODY);
            assertThat(texts(store(), 1, i)).containsExactly(i + ":v" + i);
        }
    }

    @Test
    @SuppressWarnings("NullAway")
    default void anAppendOfNothingOrToNobodyIsAMistake() {
        Tellings tellings = new Tellings();
        assertThatNullPointerException().isThrownBy(() -> store().append(1, (byte[]) null, tellings.callback(1)));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, (ByteBuffer) null, tellings.callback(2)));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, (byte[]) null));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, bytes("a"), null));
        assertThatNullPointerException().isThrownBy(() -> store().append(1, ByteBuffer.wrap(bytes("a")), null));
        assertThat(append(store(), 1, "b")).isEqualTo(0);
        assertThat(tellings.all()).isEmpty();
    }
}
