package io.caravan.testing;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.caravan.SequenceConflictException;
import io.caravan.ValueTooLargeException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that batches are atomic, are applied in order, and are accepted only if their expectations hold. */
public interface BatchContract extends ContractFixture {

    private long write(WriteBatch batch) {
        return awaitWrite(reported -> store().write(batch, reported));
    }

    private SequenceConflictException conflictOf(WriteBatch batch) {
        Completions completions = new Completions();
        SequenceConflictException conflict = catchThrowableOfType(
                SequenceConflictException.class, () -> store().write(batch, completions.callback(1)));
        append(store(), 99, "completed after all callbacks of the batch");
        assertThat(completions.all()).isEmpty();
        return conflict;
    }

    @Test
    default void batchAppliesOperationsToSeveralLists() {
        append(store(), 2, "old", "older");
        append(store(), 3, "gone");
        write(WriteBatch.create()
                .append(1, bytes("a"))
                .append(2, bytes("b"))
                .trimTo(2, 2)
                .delete(3));
        assertThat(texts(store(), 1)).containsExactly("0:a");
        assertThat(texts(store(), 2)).containsExactly("2:b");
        assertThat(store().info(3)).isNull();
    }

    @Test
    default void batchAppliesOperationsInOrder() {
        append(store(), 1, "old");
        write(WriteBatch.create()
                .append(1, bytes("a"))
                .append(1, bytes("b"))
                .trimTo(1, 2)
                .append(1, bytes("c")));
        assertThat(texts(store(), 1)).containsExactly("2:b", "3:c");
    }

    @Test
    default void appendAfterDeletionInSameBatchStartsNewList() {
        append(store(), 1, "a", "b");
        assertThat(write(WriteBatch.create()
                        .append(1, bytes("c"))
                        .delete(1)
                        .append(1, bytes("d"))
                        .append(1, bytes("e"))))
                .isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:d", "1:e");
    }

    @Test
    default void listCreatedAndDeletedInSameBatchDoesNotExist() {
        assertThat(write(WriteBatch.create().append(1, bytes("a")).delete(1))).isEqualTo(0);
        assertThat(store().info(1)).isNull();
        assertThat(append(store(), 1, "b")).isEqualTo(0);
    }

    @Test
    default void listCreatedAndEmptiedInSameBatchKeepsNextSequence() {
        write(WriteBatch.create().append(1, bytes("a")).append(1, bytes("b")).trimTo(1, 9));
        assertThat(texts(store(), 1)).isEmpty();
        assertThat(append(store(), 1, "c")).isEqualTo(2);
    }

    @Test
    default void callbackReceivesSequenceOfLastAppend() {
        append(store(), 2, "a", "b", "c");
        assertThat(write(WriteBatch.create()
                        .append(1, bytes("x"))
                        .append(2, bytes("y"))
                        .trimTo(1, 1)))
                .isEqualTo(3);
        assertThat(write(WriteBatch.create().append(2, bytes("z")).append(1, bytes("x"))))
                .isEqualTo(1);
    }

    @Test
    default void callbackReceivesMinusOneForBatchWithoutAppends() {
        append(store(), 1, "a", "b");
        assertThat(write(WriteBatch.create().trimTo(1, 1).delete(2))).isEqualTo(-1);
        assertThat(write(WriteBatch.create())).isEqualTo(-1);
        assertThat(write(WriteBatch.create().expect(1, 2))).isEqualTo(-1);
        assertThat(texts(store(), 1)).containsExactly("1:b");
    }

    @Test
    default void batchCanTrimAndDeleteMissingLists() {
        assertThat(write(WriteBatch.create().trimTo(1, 5).delete(2).append(3, bytes("a"))))
                .isEqualTo(0);
        assertThat(store().info(1)).isNull();
        assertThat(store().info(2)).isNull();
    }

    @Test
    default void batchIsAppliedIfExpectationsAreMet() {
        append(store(), 1, "a", "b");
        write(WriteBatch.create()
                .expect(1, 2)
                .expect(2, 0)
                .append(1, bytes("c"))
                .append(2, bytes("x")));
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b", "2:c");
        assertThat(texts(store(), 2)).containsExactly("0:x");
    }

    @Test
    default void batchChangesNothingIfExpectationFails() {
        append(store(), 1, "a", "b");
        append(store(), 2, "x");
        SequenceConflictException conflict = conflictOf(WriteBatch.create()
                .append(2, bytes("y"))
                .trimTo(2, 1)
                .delete(1)
                .append(3, bytes("new"))
                .expect(2, 1)
                .expect(1, 1));
        assertThat(conflict.id()).isEqualTo(1);
        assertThat(conflict.expected()).isEqualTo(1);
        assertThat(conflict.actual()).isEqualTo(2);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(texts(store(), 2)).containsExactly("0:x");
        assertThat(store().info(3)).isNull();
        assertThat(append(store(), 2, "y")).isEqualTo(1);
    }

    @Test
    default void expectationsReferToStateBeforeBatch() {
        append(store(), 1, "a");
        write(WriteBatch.create()
                .append(1, bytes("b"))
                .expect(1, 1)
                .append(1, bytes("c"))
                .expect(1, 1));
        assertThat(conflictOf(WriteBatch.create().append(1, bytes("d")).expect(1, 4))
                        .actual())
                .isEqualTo(3);
    }

    @Test
    default void expectationsIncludeWritesNotYetDurable() {
        CompletableFuture<Long> last = CompletableFuture.completedFuture(-1L);
        for (int i = 0; i < 100; i++) {
            last = new CompletableFuture<>();
            store().write(WriteBatch.create().expect(1, i).append(1, bytes("v" + i)), WriteCallback.completing(last));
        }
        assertThat(await(last)).isEqualTo(99);
    }

    @Test
    default void missingListMatchesZeroAndEmptiedListItsNextSequence() {
        append(store(), 1, "a", "b");
        awaitWrite(reported -> store().delete(1, reported));
        append(store(), 2, "a", "b");
        awaitWrite(reported -> store().trim(2, 2, reported));
        write(WriteBatch.create().expect(1, 0).expect(2, 2).expect(3, 0));
        assertThat(conflictOf(WriteBatch.create().expect(1, 2)).actual()).isEqualTo(0);
        assertThat(conflictOf(WriteBatch.create().expect(2, 0)).actual()).isEqualTo(2);
        assertThat(conflictOf(WriteBatch.create().expect(3, 1)).actual()).isEqualTo(0);
    }

    @Test
    default void batchWithTooLargeValueChangesNothing() {
        append(store(), 1, "a");
        Completions completions = new Completions();
        assertThatExceptionOfType(ValueTooLargeException.class)
                .isThrownBy(() -> store().write(
                                WriteBatch.create()
                                        .append(1, bytes("b"))
                                        .delete(1)
                                        .append(2, bytes(maxValueBytes() + 1, 0)),
                                completions.callback(1)));
        assertThat(append(store(), 1, "c")).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:c");
        assertThat(store().info(2)).isNull();
        assertThat(completions.all()).isEmpty();
    }

    @Test
    default void tooLargeBatchChangesNothing() {
        append(store(), 1, "a");
        WriteBatch batch = WriteBatch.create().delete(1).expect(1, 77);
        for (int i = 0; i < 3; i++) {
            batch.append(2, bytes(maxValueBytes(), i));
        }
        Completions completions = new Completions();
        assertThatExceptionOfType(ValueTooLargeException.class)
                .isThrownBy(() -> store().write(batch, completions.callback(1)))
                .withMessageContaining("a batch");
        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(store().info(2)).isNull();
        assertThat(completions.all()).isEmpty();
    }

    @Test
    default void sizesAreCheckedBeforeExpectations() {
        Completions completions = new Completions();
        assertThatExceptionOfType(ValueTooLargeException.class)
                .isThrownBy(() -> store().write(
                                WriteBatch.create().expect(1, 77).append(1, bytes(maxValueBytes() + 1, 0)),
                                completions.callback(1)));
    }

    @Test
    default void tryWriteAcceptsBatchWhenWritable() {
        CompletableFuture<Void> writable = new CompletableFuture<>();
        store().onWritable(() -> writable.complete(null));
        await(writable);
        assertThat(awaitWrite(reported -> assertThat(store().tryWrite(
                                        WriteBatch.create()
                                                .append(1, bytes("a"))
                                                .append(1, bytes("b")),
                                        reported))
                        .isTrue()))
                .isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
    }

    @Test
    default void tryWriteThrowsSameExceptionsAsWrite() {
        append(store(), 1, "a");
        Completions completions = new Completions();
        assertThatExceptionOfType(SequenceConflictException.class)
                .isThrownBy(
                        () -> store().tryWrite(WriteBatch.create().expect(1, 0).delete(1), completions.callback(1)));
        assertThatExceptionOfType(ValueTooLargeException.class)
                .isThrownBy(() -> store().tryWrite(
                                WriteBatch.create().append(1, bytes(maxValueBytes() + 1, 0)), completions.callback(2)));
        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(completions.all()).isEmpty();
    }

    @Test
    default void writeCopiesValuesOfBatch() {
        byte[] value = bytes("mine");
        WriteBatch batch = WriteBatch.create().append(1, value);
        CompletableFuture<Long> sequence = new CompletableFuture<>();
        store().write(batch, WriteCallback.completing(sequence));
        value[0] = 'X';
        await(sequence);
        assertThat(texts(store(), 1)).containsExactly("0:mine");
    }

    @Test
    default void acceptedBatchIsImmediatelyReadable() {
        Completions completions = new Completions();
        store().write(WriteBatch.create().append(1, bytes("a")).append(2, bytes("b")), completions.callback(1));
        assertThat(texts(store(), 1)).containsExactly("0:a");
        assertThat(texts(store(), 2)).containsExactly("0:b");
        completions.await(1);
    }

    @Test
    default void batchWithManyOperationsIsApplied() {
        WriteBatch batch = WriteBatch.create();
        for (int i = 0; i < 50; i++) {
            batch.append(i % 5, bytes("v" + i)).trimTo(i % 7, 1).expect(i, 0);
        }
        assertThat(write(batch)).isEqualTo(9);
        assertThat(store().info(4).nextSequence()).isEqualTo(10);
    }

    @Test
    @SuppressWarnings("NullAway")
    default void writeRejectsNullBatchAndNullCallback() {
        Completions completions = new Completions();
        assertThatNullPointerException().isThrownBy(() -> store().write(null, completions.callback(1)));
        assertThatNullPointerException()
                .isThrownBy(() -> store().write(WriteBatch.create().append(1, bytes("a")), null));
        assertThat(append(store(), 1, "b")).isEqualTo(0);
        assertThat(completions.all()).isEmpty();
    }
}
