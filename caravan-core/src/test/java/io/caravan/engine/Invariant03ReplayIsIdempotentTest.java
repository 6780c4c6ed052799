package io.caravan.engine;

import static io.caravan.engine.FaultyStore.CHECKPOINT;
import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.UNFINISHED_CHECKPOINT;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.WriteBatch;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.ModelLists;
import io.caravan.testing.ModelRun;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Seeds;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Invariant 3: any number of replays from any retained checkpoint yields the same lists and values, and writes nothing.
 */
@LongTimeout
class Invariant03ReplayIsIdempotentTest {

    @Test
    void replaysFromAllCheckpointsYieldSameState() {
        Seeds.forEach(5, seed -> {
            try (FaultyStore store = FaultyStore.open()) {
                ModelLists model = new ModelLists(FaultyStore.MAX_VALUE_BYTES);
                RandomOperations operations =
                        new RandomOperations(seed, new RandomOperations.Shape(20, 500, 2000), model);
                ModelRun run = new ModelRun(store.engine, model, same -> same);
                run.run(operations, 300);
                store.engine.checkpoint();
                run.run(operations, 300);
                store.engine.checkpoint();
                run.run(operations, 300);
                store.engine.flush();
                assertReplaysAgree(store.disk.processKill());
                assertReplaysAgree(store.disk.powerCut());
            }
        });
    }

    /**
     * Checks that one or two replays from each checkpoint yield the same state. Values that the newer checkpoint
     * locates in the heap may be in the log according to the older checkpoint.
     */
    private static void assertReplaysAgree(MemoryStorage disk) throws IOException {
        List<Long> checkpoints = checkpoints(disk);
        assertThat(checkpoints).hasSize(2);
        SortedMap<String, ByteBuffer> before = disk.contents();
        Replayed newest = Replayed.from(disk, checkpoints.get(1), 1);
        for (long number : checkpoints) {
            Replayed once = Replayed.from(disk, number, 1);
            assertThat(once.contents()).isEqualTo(newest.contents());
            assertThat(once.creationLsns()).isEqualTo(newest.creationLsns());
            assertThat(Replayed.from(disk, number, 2)).isEqualTo(once);
        }
        assertThat(disk.contents()).as("no replay writes anything").isEqualTo(before);
    }

    /** A recovered state including the addresses of all values, for comparison with another recovered state. */
    private record Replayed(
            StoreContents contents, Map<Long, Long> creationLsns, Map<Long, List<Long>> regions, long usedBytes) {
        /** Recovers {@code times} times from one checkpoint and returns the last state. */
        static Replayed from(Storage storage, long checkpoint, int times) throws IOException {
            Replayed last = null;
            for (int i = 0; i < times; i++) {
                try (CheckpointReader reader = new CheckpointReader(storage, checkpoint);
                        Recovered recovered = new Recovery(storage).recoverFrom(reader)) {
                    last = of(recovered);
                }
            }
            return last;
        }

        private static Replayed of(Recovered recovered) {
            ListIndex index = recovered.index();
            Map<Long, Long> creationLsns = new TreeMap<>();
            Map<Long, List<Long>> regions = new TreeMap<>();
            StoreAnatomy.forEachList(index, list -> {
                creationLsns.put(index.id(list), index.creationLsn(list));
                regions.put(
                        index.id(list),
                        Arrays.stream(StoreAnatomy.regionsOf(index, list))
                                .boxed()
                                .toList());
            });
            return new Replayed(
                    StoreAnatomy.contentsOf(recovered),
                    creationLsns,
                    regions,
                    recovered.heap().usedBytes());
        }
    }

    private static List<Long> checkpoints(MemoryStorage disk) {
        return FaultyStore.files(disk, CHECKPOINT).stream()
                .map(name -> FileNames.CHECKPOINT.number(name).orElseThrow())
                .toList();
    }

    /** Checks the replay of changes made before the checkpoint creates its file, and between two writes to it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 6})
    void writesDuringCheckpointAreReplayedOnce(int pausedWrite) throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            for (int id = 0; id < 100; id++) {
                append(store.engine, id, "a" + id, "b" + id);
            }
            FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
            Predicate<Call> writes = on(Kind.WRITE, UNFINISHED_CHECKPOINT);
            try (Hold create = store.faults.hold(on(Kind.CREATE, UNFINISHED_CHECKPOINT));
                    Hold write = store.faults.hold(nth(pausedWrite, writes))) {
                new Thread(checkpoint, "checkpoint").start();
                create.awaitReached();
                changeEveryList(store.engine);
                create.release();
                write.awaitReached();
                changeEveryList(store.engine);
            }
            checkpoint.get();
            changeEveryList(store.engine);
            StoreContents expected = StoreContents.of(store.engine);
            assertReplaysAgree(store.disk.processKill());
            assertReplaysAgree(store.disk.powerCut());
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(StoreContents.of(cut.engine)).isEqualTo(expected);
                cut.closeAndVerify();
            }
        }
    }

    private static void changeEveryList(Engine engine) {
        for (int id = 0; id < 100; id++) {
            switch (id % 5) {
                case 0 -> engine.append(id, bytes("appended " + id), NO_CALLBACK);
                case 1 -> engine.trim(id, 1, NO_CALLBACK);
                case 2 -> engine.delete(id, NO_CALLBACK);
                case 3 ->
                    engine.write(WriteBatch.create().delete(id).append(id, bytes("born again " + id)), NO_CALLBACK);
                default ->
                    engine.write(WriteBatch.create().append(id, bytes("x" + id)).trimTo(id, 2), NO_CALLBACK);
            }
            engine.append(1000 + id, bytes("new " + id), NO_CALLBACK);
        }
        engine.flush();
    }

    /** Checks that, until a checkpoint is published, a replay from the previous one finds all files that it needs. */
    @Test
    void heapSegmentsAreKeptWhileReplayNeedsThem() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            store.appendMany(1, 40, 4000);
            store.engine.checkpoint();
            int segments = store.files(HEAP).size();
            assertThat(segments).isGreaterThan(5);
            append(store.engine, 2, "kept");
            awaitWrite(reported -> store.engine.trim(1, 40, reported));
            store.engine.flush();
            Eventually.await(
                    "the trimmed regions are free",
                    () -> store.engine.stats().heap().usedBytes() < 100);
            store.duringCheckpoint(on(Kind.CREATE, UNFINISHED_CHECKPOINT), () -> {
                store.faults.clearCalls();
                try (FaultyStore cut = store.afterPowerCut()) {
                    assertThat(StoreContents.of(cut.engine)).isEqualTo(StoreContents.of(store.engine));
                }
                assertThat(store.faults.calls(on(Kind.DELETE, HEAP))).isEmpty();
            });
        }
    }
}
