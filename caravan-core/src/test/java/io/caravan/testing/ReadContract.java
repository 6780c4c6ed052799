package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.StoreCalls.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.CaravanException;
import io.caravan.Entry;
import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.TrimmedException;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests reads: the streamed entries, the end of the stream, and consistency while the list changes. */
public interface ReadContract extends ContractFixture {

    /** Records every call, and stops the read after {@code stopAfter} entries. */
    final class Recorder implements EntryStream {
        private final List<String> calls = new ArrayList<>();
        private final int stopAfter;

        Recorder(int stopAfter) {
            this.stopAfter = stopAfter;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            calls.add(sequence + ":" + UTF_8.decode(value));
            return calls.size() < stopAfter;
        }

        @Override
        public void finished() {
            calls.add("finished");
        }
    }

    private List<String> callsOfGet(long id, int stopAfter) {
        Recorder recorder = new Recorder(stopAfter);
        store().get(id, recorder);
        return recorder.calls;
    }

    private List<String> callsOfGetFrom(long id, long fromSequence) {
        Recorder recorder = new Recorder(Integer.MAX_VALUE);
        store().get(id, fromSequence, recorder);
        return recorder.calls;
    }

    @Test
    default void readStreamsOldestFirstThenFinishes() {
        append(store(), 1, "a", "b", "c");
        assertThat(callsOfGet(1, 99)).containsExactly("0:a", "1:b", "2:c", "finished");
    }

    @Test
    default void missingListReadsAsEmpty() {
        assertThat(callsOfGet(1, 99)).containsExactly("finished");
        assertThat(callsOfGetFrom(1, 0)).containsExactly("finished");
        assertThat(callsOfGetFrom(1, 7)).containsExactly("finished");
        assertThat(store().read(1)).isEmpty();
    }

    @Test
    default void readOfEmptiedListFinishesImmediately() {
        append(store(), 1, "a", "b");
        awaitWrite(reported -> store().trim(1, 2, reported));
        assertThat(callsOfGet(1, 99)).containsExactly("finished");
        assertThat(callsOfGetFrom(1, 2)).containsExactly("finished");
    }

    @Test
    default void readCanStartAtAnyRetainedEntry() {
        append(store(), 1, "a", "b", "c", "d");
        awaitWrite(reported -> store().trim(1, 1, reported));
        assertThat(callsOfGetFrom(1, 1)).containsExactly("1:b", "2:c", "3:d", "finished");
        assertThat(callsOfGetFrom(1, 2)).containsExactly("2:c", "3:d", "finished");
        assertThat(callsOfGetFrom(1, 3)).containsExactly("3:d", "finished");
    }

    @Test
    default void readPastEndFinishesImmediately() {
        append(store(), 1, "a", "b");
        assertThat(callsOfGetFrom(1, 2)).containsExactly("finished");
        assertThat(callsOfGetFrom(1, 3)).containsExactly("finished");
        assertThat(callsOfGetFrom(1, Long.MAX_VALUE)).containsExactly("finished");
    }

    @Test
    default void readBeforeFirstRetainedEntryReportsItsSequence() {
        append(store(), 1, "a", "b", "c");
        awaitWrite(reported -> store().trim(1, 2, reported));
        for (long from = 0; from < 2; from++) {
            assertTrimmed(from, 2);
        }
    }

    @Test
    default void readBeforeEndOfEmptiedListReportsFirstSequence() {
        append(store(), 1, "a", "b");
        awaitWrite(reported -> store().trim(1, 2, reported));
        assertTrimmed(1, 2);
    }

    private void assertTrimmed(long fromSequence, long firstSequence) {
        Recorder recorder = new Recorder(99);
        TrimmedException trimmed =
                catchThrowableOfType(TrimmedException.class, () -> store().get(1, fromSequence, recorder));
        assertThat(trimmed.firstSequence()).isEqualTo(firstSequence);
        assertThat(recorder.calls).isEmpty();
    }

    @Test
    default void streamIsNotCalledAgainAfterReturningFalse() {
        append(store(), 1, "a", "b", "c");
        assertThat(callsOfGet(1, 1)).containsExactly("0:a");
        assertThat(callsOfGet(1, 2)).containsExactly("0:a", "1:b");
        assertThat(callsOfGet(1, 3)).as("stopped at the last entry").containsExactly("0:a", "1:b", "2:c");
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
    }

    @Test
    default void streamReceivesReadOnlyBufferOfExactValueLength() {
        append(store(), 1, "hello", "", "you");
        List<Integer> lengths = new ArrayList<>();
        store().get(1, each((sequence, value) -> {
            assertThat(value.isReadOnly()).isTrue();
            assertThat(value.position()).isEqualTo(0);
            lengths.add(value.limit());
        }));
        assertThat(lengths).containsExactly(5, 0, 3);
    }

    @Test
    default void bufferPositionChangesDoNotAffectLaterReads() {
        append(store(), 1, "hello", "you");
        store().get(1, each((sequence, value) -> value.position(1).limit(2)));
        assertThat(texts(store(), 1)).containsExactly("0:hello", "1:you");
    }

    @Test
    default void exceptionFromStreamReachesReader() {
        append(store(), 1, "a", "b");
        List<Long> seen = new ArrayList<>();
        assertThatIllegalStateException()
                .isThrownBy(() -> store().get(1, each((sequence, value) -> {
                    seen.add(sequence);
                    throw new IllegalStateException("enough");
                })))
                .withMessage("enough");
        assertThat(seen).containsExactly(0L);
        assertStoreStillWorks();
    }

    @Test
    default void exceptionFromFinishedReachesReader() {
        append(store(), 1, "a", "b");
        assertThatIllegalStateException()
                .isThrownBy(() -> store().get(1, new EntryStream() {
                    @Override
                    public boolean next(long sequence, ByteBuffer value) {
                        return true;
                    }

                    @Override
                    public void finished() {
                        throw new IllegalStateException("enough");
                    }
                }));
        assertStoreStillWorks();
    }

    private void assertStoreStillWorks() {
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
        assertThat(awaitWrite(reported -> store().trim(1, 1, reported))).isEqualTo(1);
        assertThat(append(store(), 1, "c")).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("1:b", "2:c");
    }

    @Test
    default void readIsUnaffectedByChangesMadeByStream() {
        append(store(), 1, "a", "b", "c");
        List<String> seen = new ArrayList<>();
        store().get(1, each((sequence, value) -> {
            seen.add(sequence + ":" + UTF_8.decode(value));
            if (sequence == 0) {
                append(store(), 1, "d");
                awaitWrite(reported -> store().trim(1, 2, reported));
                awaitWrite(reported -> store().delete(1, reported));
                append(store(), 1, "new");
                assertThat(texts(store(), 1)).containsExactly("0:new");
            }
        }));
        assertThat(seen).containsExactly("0:a", "1:b", "2:c");
        assertThat(texts(store(), 1)).containsExactly("0:new");
    }

    @Test
    default void valuesNeededByReadAreNotOverwritten() {
        int length = maxValueBytes() / 2;
        store().append(1, bytes(length, 0), NO_CALLBACK);
        store().append(1, bytes(length, 1), NO_CALLBACK);
        List<Value> seen = new ArrayList<>();
        store().get(1, each((sequence, value) -> {
            if (sequence == 0) {
                awaitWrite(reported -> store().delete(1, reported));
                for (int i = 0; i < 20; i++) {
                    store().append(2, bytes(length, 100 + i), NO_CALLBACK);
                }
                store().flush();
            }
            seen.add(Value.of(sequence, StoreCalls.copyOf(value)));
        }));
        assertThat(seen).containsExactly(Value.of(0, bytes(length, 0)), Value.of(1, bytes(length, 1)));
    }

    @Test
    default void slowStreamDoesNotBlockOtherCalls() {
        append(store(), 1, "a", "b");
        List<String> seen = new ArrayList<>();
        store().get(1, each((sequence, value) -> {
            try (Crew crew = new Crew()) {
                crew.add(() -> append(store(), 1, "c")).add(() -> append(store(), 2, "x"));
                crew.add(() -> texts(store(), 1)).add(() -> store().flush());
                crew.run();
            }
            seen.add(sequence + ":" + UTF_8.decode(value));
        }));
        assertThat(seen).containsExactly("0:a", "1:b");
        assertThat(texts(store(), 1)).hasSize(4);
    }

    @Test
    default void streamCanMakeNestedReads() {
        append(store(), 1, "a", "b");
        append(store(), 2, "x");
        List<String> seen = new ArrayList<>();
        store().get(1, each((sequence, value) -> {
            seen.addAll(texts(store(), 2));
            seen.addAll(texts(store(), 1, sequence));
            seen.add("" + store().info(2).count());
        }));
        assertThat(seen).containsExactly("0:x", "0:a", "1:b", "1", "0:x", "1:b", "1");
    }

    @Test
    default void statsCountActiveReaders() {
        append(store(), 1, "a");
        List<Long> readers = new ArrayList<>();
        store().get(1, each((sequence, value) -> readers.add(store().stats().pinnedReaders())));
        assertThat(readers).containsExactly(1L);
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
    }

    @Test
    default void readReturnsRetainedEntries() {
        append(store(), 1, "a", "b", "");
        awaitWrite(reported -> store().trim(1, 1, reported));
        List<Entry> entries = store().read(1);
        assertThat(entries).extracting(Entry::sequence).containsExactly(1L, 2L);
        assertThat(entries).extracting(Entry::value).containsExactly(bytes("b"), bytes(""));
    }

    @Test
    default void readAcceptsStartSequenceAndLimit() {
        append(store(), 1, "a", "b", "c", "d");
        awaitWrite(reported -> store().trim(1, 1, reported));
        assertThat(sequences(store().read(1, 1, 2))).containsExactly(1L, 2L);
        assertThat(sequences(store().read(1, 3, 9))).containsExactly(3L);
        assertThat(store().read(1, 4, 1)).isEmpty();
        assertThat(store().read(7, 0, 1)).isEmpty();
        assertThat(catchThrowableOfType(TrimmedException.class, () -> store().read(1, 0, 1)))
                .isNotNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().read(1, 1, 0))
                .withMessageContaining("limit");
    }

    private static List<Long> sequences(List<Entry> entries) {
        return entries.stream().map(Entry::sequence).toList();
    }

    @Test
    default void readOneReturnsEntryBySequence() {
        append(store(), 1, "a", "b", "c");
        awaitWrite(reported -> store().trim(1, 1, reported));
        assertThat(store().readOne(1, 2).sequence()).isEqualTo(2);
        assertThat(store().readOne(1, 1).value()).isEqualTo(bytes("b"));
        assertThat(store().readOne(1, 3)).isNull();
        assertThat(store().readOne(7, 0)).isNull();
        assertThat(catchThrowableOfType(TrimmedException.class, () -> store().readOne(1, 0)))
                .isNotNull();
        assertThatIllegalArgumentException().isThrownBy(() -> store().readOne(1, -1));
    }

    private List<String> callsOfGetNewestFirst(long id, long beforeSequence, int stopAfter) {
        Recorder recorder = new Recorder(stopAfter);
        store().getNewestFirst(id, beforeSequence, recorder);
        return recorder.calls;
    }

    @Test
    default void newestFirstReadStreamsInReverse() {
        append(store(), 1, "a", "b", "c", "d");
        awaitWrite(reported -> store().trim(1, 1, reported));
        assertThat(callsOfGetNewestFirst(1, Long.MAX_VALUE, 99)).containsExactly("3:d", "2:c", "1:b", "finished");
        assertThat(callsOfGetNewestFirst(1, 3, 99)).containsExactly("2:c", "1:b", "finished");
        assertThat(callsOfGetNewestFirst(1, Long.MAX_VALUE, 2)).containsExactly("3:d", "2:c");
        assertThat(callsOfGetNewestFirst(1, 1, 99)).containsExactly("finished");
        assertThat(callsOfGetNewestFirst(1, 0, 99)).containsExactly("finished");
        assertThat(callsOfGetNewestFirst(7, Long.MAX_VALUE, 99)).containsExactly("finished");
        assertThat(sequences(store().readNewestFirst(1, Long.MAX_VALUE, 2))).containsExactly(3L, 2L);
        assertThat(sequences(store().readNewestFirst(1, 2, 2))).containsExactly(1L);
        assertThatIllegalArgumentException().isThrownBy(() -> store().getNewestFirst(1, -1, new Recorder(9)));
    }

    @Test
    default void longListIsReadCompletelyNewestFirst() {
        List<Value> expected = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            byte[] value = bytes(i % 50, i);
            store().append(1, value, NO_CALLBACK);
            expected.add(0, Value.of(i, value));
        }
        awaitWrite(reported -> store().trim(1, 100, reported));
        List<Value> seen = new ArrayList<>();
        store().getNewestFirst(
                        1,
                        Long.MAX_VALUE,
                        each((sequence, value) -> seen.add(Value.of(sequence, StoreCalls.copyOf(value)))));
        assertThat(seen).isEqualTo(expected.subList(0, 1_900));
    }

    @Test
    default void newestFirstReadIsUnaffectedByChangesMadeByStream() {
        append(store(), 1, "a", "b", "c");
        List<String> seen = new ArrayList<>();
        store().getNewestFirst(1, Long.MAX_VALUE, each((sequence, value) -> {
            seen.add(sequence + ":" + UTF_8.decode(value));
            if (sequence == 2) {
                append(store(), 1, "d");
                awaitWrite(reported -> store().delete(1, reported));
                append(store(), 1, "new");
            }
        }));
        assertThat(seen).containsExactly("2:c", "1:b", "0:a");
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
    }

    @Test
    default void infoReportsSequencesAndBytesOfList() {
        append(store(), 1, "a", "", "ccc");
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 0, 3, 4));
        awaitWrite(reported -> store().trim(1, 1, reported));
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 1, 3, 3));
        assertThat(store().info(1).count()).isEqualTo(2);
        awaitWrite(reported -> store().trim(1, 2, reported));
        assertThat(store().info(1)).isEqualTo(new ListInfo(1, 3, 3, 0));
    }

    @Test
    default void infoOfMissingListIsNull() {
        assertThat(store().info(1)).isNull();
        append(store(), 1, "a");
        assertThat(store().info(2)).isNull();
    }

    @Test
    default void infoIncludesAcceptedWriteImmediately() {
        for (int i = 1; i <= 50; i++) {
            store().append(1, bytes("x"), NO_CALLBACK);
            assertThat(store().info(1)).isEqualTo(new ListInfo(1, 0, i, i));
        }
    }

    @Test
    default void forEachListVisitsEachListOnce() {
        assertThat(ids()).isEmpty();
        List<Long> expected = new ArrayList<>();
        for (long id = -300; id < 300; id += 3) {
            store().append(id, bytes("x"), NO_CALLBACK);
            expected.add(id);
        }
        store().append(3, bytes("y"), NO_CALLBACK);
        store().flush();
        assertThat(ids()).containsExactlyInAnyOrderElementsOf(expected);
    }

    private List<Long> ids() {
        List<Long> ids = new ArrayList<>();
        store().forEachList(ids::add);
        return ids;
    }

    @Test
    default void forEachListRunsActionOutsideLocks() {
        append(store(), 1, "a");
        append(store(), 2, "b");
        List<Long> ids = new ArrayList<>();
        try (Crew crew = new Crew()) {
            store().forEachList(id -> {
                crew.add(() -> append(store(), id, "c")).run();
                awaitWrite(reported -> store().delete(id, reported));
                ids.add(id);
            });
        }
        assertThat(ids).containsExactlyInAnyOrder(1L, 2L);
        assertThat(ids()).isEmpty();
    }

    @Test
    default void exceptionFromForEachListActionReachesCaller() {
        append(store(), 1, "a");
        assertThatThrownBy(() -> store().forEachList(id -> {
                    throw new UnsupportedOperationException("enough");
                }))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(append(store(), 1, "b")).isEqualTo(1);
    }

    @Test
    default void readRejectsNegativeSequence() {
        append(store(), 1, "a");
        Recorder recorder = new Recorder(99);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store().get(1, -1, recorder))
                .withMessageContaining("fromSequence");
        assertThatIllegalArgumentException().isThrownBy(() -> store().get(2, Long.MIN_VALUE, recorder));
        assertThat(recorder.calls).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway")
    default void rejectsNullStreamsAndActions() {
        append(store(), 1, "a");
        assertThatNullPointerException().isThrownBy(() -> store().get(1, null));
        assertThatNullPointerException().isThrownBy(() -> store().get(2, null));
        assertThatNullPointerException().isThrownBy(() -> store().get(1, 0, null));
        assertThatNullPointerException().isThrownBy(() -> store().forEachList(null));
        assertThatNullPointerException().isThrownBy(() -> store().onWritable(null));
        assertThat(store().stats().pinnedReaders()).isEqualTo(0);
    }

    @Test
    default void acceptedStateIsAvailableOnAnyThreadWithoutWaiting() throws Exception {
        assertThat(store().accepted(7)).isNull();
        store().acceptedLengths(7, length -> {
            throw new AssertionError("a missing list has a value of " + length);
        });
        CompletableFuture<ListInfo> onStoreThread = new CompletableFuture<>();
        for (int i = 0; i < 1_000; i++) {
            append(store(), 7, "v".repeat(i % 10));
        }
        store().trimTo(7, 15, WriteCallback.completing(new CompletableFuture<>()));
        assertThat(store().accepted(7)).isEqualTo(new ListInfo(7, 15, 1_000, 4_500 - 45 - 10));
        // More values are trimmed than retained.
        store().trimTo(7, 995, new WriteCallback() {
            @Override
            public void success(long sequence) {
                onStoreThread.complete(store().accepted(7));
            }

            @Override
            public void failure(CaravanException problem) {
                onStoreThread.completeExceptionally(problem);
            }
        });
        assertThat(store().accepted(7)).isEqualTo(new ListInfo(7, 995, 1_000, 5 + 6 + 7 + 8 + 9));
        List<Integer> lengths = new ArrayList<>();
        store().acceptedLengths(7, lengths::add);
        assertThat(lengths).containsExactly(5, 6, 7, 8, 9);
        lengths.clear();
        store().acceptedLengths(7, length -> {
            lengths.add(length);
            return length < 6;
        });
        assertThat(lengths).containsExactly(5, 6);
        assertThat(onStoreThread.get()).isEqualTo(store().info(7));
        assertThat(store().stats().pinnedReaders()).isZero();
    }
}
