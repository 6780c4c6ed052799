package io.caravan.testing;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that interrupts do not harm the store, and that an interrupted caller keeps its interrupt status. */
public interface InterruptContract extends ContractFixture {

    static Stream<Arguments.ArgumentSet> allCalls() {
        return Stream.of(
                call("append", (store, callback) -> store.append(1, bytes("x"), callback)),
                call("append buffer", (store, callback) -> store.append(1, ByteBuffer.allocate(1), callback)),
                call("append future", (store, callback) -> {
                    CompletableFuture<Long> sequence = store.append(1, bytes("x"));
                    assertThat(sequence.thenAccept(callback::success)).isNotNull();
                }),
                call(
                        "write",
                        (store, callback) -> store.write(WriteBatch.create().append(1, bytes("x")), callback)),
                call("try to write", (store, callback) -> {
                    if (!store.tryWrite(WriteBatch.create().append(1, bytes("x")), callback)) {
                        callback.success(0);
                    }
                }),
                call("get newest first", reading(store -> store.getNewestFirst(1, 9, each((sequence, value) -> {})))),
                call("trim", (store, callback) -> store.trim(1, 1, callback)),
                call("trimTo", (store, callback) -> store.trimTo(1, 1, callback)),
                call("delete", (store, callback) -> store.delete(1, callback)),
                call("get", reading(store -> store.get(1, each((sequence, value) -> {})))),
                call("get from", reading(store -> store.get(1, 0, each((sequence, value) -> {})))),
                call("read", reading(store -> store.read(1))),
                call("info", reading(store -> store.info(1))),
                call("forEachList", reading(store -> store.forEachList(id -> {}))),
                call("stats", reading(ListStore::stats)),
                call("writable", reading(ListStore::writable)),
                call("onWritable", (store, callback) -> store.onWritable(() -> callback.success(0))),
                call("flush", reading(ListStore::flush)),
                call("checkpoint", reading(ListStore::checkpoint)));
    }

    static Arguments.ArgumentSet call(String name, BiConsumer<ListStore, WriteCallback> call) {
        return Arguments.argumentSet(name, call);
    }

    private static BiConsumer<ListStore, WriteCallback> reading(Consumer<ListStore> call) {
        return (store, callback) -> {
            call.accept(store);
            callback.success(0);
        };
    }

    @ParameterizedTest
    @MethodSource("io.caravan.testing.InterruptContract#allCalls")
    default void interruptedThreadCanMakeEveryCallAndStaysInterrupted(BiConsumer<ListStore, WriteCallback> call) {
        append(store(), 1, "a");
        store().append(1, bytes("not durable yet, so that a read has to wait"), NO_CALLBACK);
        CompletableFuture<Long> done = new CompletableFuture<>();
        assertThat(staysInterruptedDuring(() -> call.accept(store(), WriteCallback.completing(done))))
                .isTrue();
        await(done);
        append(store(), 2, "the store continues");
        assertThat(texts(store(), 2)).containsExactly("0:the store continues");
    }

    @Test
    default void interruptedThreadCanCloseStoreAndStaysInterrupted() {
        append(store(), 1, "a");
        store().append(1, bytes("b"), NO_CALLBACK);
        assertThat(staysInterruptedDuring(() -> store().close())).isTrue();
        if (durable()) {
            assertThat(texts(closeAndReopen(), 1)).containsExactly("0:a", "1:b");
        }
    }

    private static boolean staysInterruptedDuring(Runnable call) {
        Thread.currentThread().interrupt();
        try {
            call.run();
            return Thread.currentThread().isInterrupted();
        } finally {
            Thread.interrupted(); // clears the interrupt status, so that the test can wait
        }
    }

    @Test
    default void interruptsAtAnyTimeAreHarmless() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread tested = Thread.currentThread();
        Thread interrupter = new Thread(() -> {
            while (!done.get()) {
                tested.interrupt();
                Thread.onSpinWait();
            }
        });
        interrupter.start();
        try {
            for (int i = 0; i < 100; i++) {
                writeAndRead(i);
            }
        } finally {
            done.set(true);
            joinUninterruptibly(interrupter);
        }
        assertThat(append(store(), 1, "after")).isEqualTo(100);
        assertThat(awaitWrite(reported -> store().delete(1, reported))).isEqualTo(-1);
    }

    private void writeAndRead(int turn) {
        store().append(1, bytes("v" + turn), NO_CALLBACK);
        assertThat(texts(store(), 1, turn)).containsExactly(turn + ":v" + turn);
        assertThat(store().info(1).nextSequence()).isEqualTo(turn + 1);
        store().flush();
        if (turn % 10 == 0) {
            store().checkpoint();
        }
    }

    /** Waits for the thread to end, regardless of interrupts. The interrupt status is clear on return. */
    private static void joinUninterruptibly(Thread thread) {
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException again) {
                Thread.onSpinWait();
            }
        }
        Thread.interrupted();
    }
}
