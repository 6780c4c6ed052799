package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListInfo;
import io.caravan.WriteBatch;
import io.caravan.testing.Completions;
import io.caravan.testing.Completions.Completion;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Invariant 1: an acknowledgment follows the fsync that covers it. */
@LongTimeout
class Invariant01AcknowledgmentFollowsFsyncTest {

    @Test
    void noCallbackRunsBeforeFsyncCompletes() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "before");
            store.awaitIdleFlusher();
            Completions completions = new Completions();
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                store.engine.append(1, bytes("first of the held batch"), completions.callback(1));
                force.awaitReached();
                store.engine.append(1, bytes("gathers behind it"), completions.callback(2));
                store.engine.write(WriteBatch.create().append(2, bytes("x")).trimTo(1, 1), completions.callback(3));
                store.engine.trim(1, 1, completions.callback(4));
                store.engine.delete(2, completions.callback(5));
                // The flusher is in the fsync, so every callback that it would call before the fsync has been called.
                assertThat(completions.all()).isEmpty();
            }
            assertThat(completions.await(5))
                    .containsExactly(
                            Completion.success(1, 1),
                            Completion.success(2, 2),
                            Completion.success(3, 0),
                            Completion.success(4, 2),
                            Completion.success(5, -1));
        }
    }

    @Test
    void eachCommitWaitsForItsOwnFsync() {
        try (FaultyStore store = FaultyStore.open();
                Hold first = store.faults.hold(nth(1, on(Kind.FORCE, LOG)));
                Hold second = store.faults.hold(nth(2, on(Kind.FORCE, LOG)))) {
            Completions completions = new Completions();
            store.engine.append(1, bytes("a"), completions.callback(1));
            first.awaitReached();
            store.engine.append(1, bytes("b"), completions.callback(2));
            first.release();
            second.awaitReached();
            assertThat(completions.all()).containsExactly(Completion.success(1, 0));
            second.release();
            assertThat(completions.await(2)).containsExactly(Completion.success(1, 0), Completion.success(2, 1));
        }
    }

    @Test
    void acknowledgedValueSurvivesPowerCut() {
        try (FaultyStore store = FaultyStore.open()) {
            for (int i = 0; i < 20; i++) {
                String text = "value " + i;
                append(store.engine, i % 3, text);
                assertThat(store.textsAfterPowerCut(i % 3)).endsWith(i / 3 + ":" + text);
            }
        }
    }

    /** Checks that a read waits for the fsync of the data that it returns, because a crash could undo this data. */
    @ParameterizedTest
    @MethodSource("reads")
    void readWaitsForFsync(Reader reader, Object after) throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a");
            append(store.engine, 3, "deleted");
            FutureTask<Object> read = new FutureTask<>(() -> reader.read(store.engine));
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                store.engine.append(1, bytes("b"), NO_CALLBACK);
                store.engine.trim(1, 1, NO_CALLBACK);
                store.engine.append(2, bytes("new"), NO_CALLBACK);
                store.engine.delete(3, NO_CALLBACK);
                force.awaitReached();
                Eventually.runUntilWaiting(read);
                assertThat(read).isNotDone();
            }
            assertThat(read.get()).isEqualTo(after);
        }
    }

    private interface Reader {
        Object read(Engine engine);
    }

    static Stream<Arguments> reads() {
        return Stream.of(
                read("get", engine -> texts(engine, 1), List.of("1:b")),
                read("get from", engine -> texts(engine, 1, 2), List.of()),
                read("get of a deleted list", engine -> texts(engine, 3), List.of()),
                read("info", engine -> engine.info(1), new ListInfo(1, 1, 2, 1)),
                read("info of a new list", engine -> engine.info(2), new ListInfo(2, 0, 1, 3)));
    }

    private static Arguments read(String name, Reader reader, Object after) {
        return Arguments.argumentSet(name, reader, after);
    }
}
