package io.caravan.engine;

import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.BackupReport;
import io.caravan.ListInfo;
import io.caravan.StoreClosedException;
import io.caravan.StoreConfig;
import io.caravan.inspect.Verifier;
import io.caravan.io.Storage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import io.caravan.testing.StoreContents.ListContents;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Backs up a store that is written to, trimmed, and checkpointed between any two chunks of the copy, so that regions of
 * its heap are reused and its log is recycled. After a power cut, the backup opens, verifies, and equals the store
 * after one of the writes since the backup began.
 */
class BackupUnderLoadTest {
    private static final StoreConfig CONFIG = FaultyStore.small().build();
    private static final int LISTS = 6;
    private static final int WRITES_BEFORE = 120;
    private static final int WRITES_A_PORTION = 14;

    @Test
    @Tag("rounds")
    void backupEqualsStoreAtOneMomentAfterStart() {
        Seeds.forEach(Rounds.of(5, 1_000), seed -> {
            SplittableRandom choices = new SplittableRandom(seed);
            try (Engine engine = Engine.open(CONFIG, new MemoryStorage(), System::nanoTime)) {
                write(engine, choices, WRITES_BEFORE);
                List<StoreContents> moments = new ArrayList<>(List.of(contents(engine)));
                MemoryStorage target = new MemoryStorage();
                engine.backup(target, (done, total) -> {
                    assertThat(done).isLessThanOrEqualTo(total);
                    for (int i = 0; i < WRITES_A_PORTION; i++) {
                        write(engine, choices, 1);
                        moments.add(contents(engine));
                    }
                });
                check(target.powerCut(), moments);
            }
        });
    }

    /**
     * Returns the same contents as {@link StoreContents#of}, but walks only the test's lists, because walking the
     * entire index is too slow after every write.
     */
    private static StoreContents contents(Engine engine) {
        SortedMap<Long, ListContents> lists = new TreeMap<>();
        for (long id = 0; id < LISTS; id++) {
            ListInfo info = engine.info(id);
            if (info != null) {
                lists.put(id, new ListContents(info, StoreCalls.values(engine, id)));
            }
        }
        return new StoreContents(lists);
    }

    private static void check(Storage copy, List<StoreContents> moments) throws IOException {
        assertThat(Verifier.verify(copy, (step, done, total) -> {}).faults()).isEmpty();
        try (Engine opened = Engine.open(CONFIG, copy, System::nanoTime)) {
            assertThat(moments).contains(StoreContents.of(opened));
            opened.append(1, new byte[9]).join();
            opened.checkpoint();
        }
    }

    /** Performs {@code count} random writes and returns when all of them are acknowledged. */
    private static void write(Engine engine, SplittableRandom choices, int count) {
        List<CompletableFuture<?>> written = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long id = choices.nextInt(LISTS);
            switch (choices.nextInt(12)) {
                case 0, 1 -> written.add(engine.trim(id, choices.nextInt(5)));
                case 2 -> written.add(engine.delete(id));
                case 3 -> engine.checkpoint();
                default -> written.add(engine.append(id, bytes(choices.nextInt(2_000), i)));
            }
        }
        written.forEach(CompletableFuture::join);
    }

    @Test
    void logIsRecycledAfterBackup() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            List<Integer> during = new ArrayList<>();
            store.engine.backup(new MemoryStorage(), (done, total) -> {
                writeAndCheckpoint(store.engine);
                during.add(logs(store.disk));
            });
            writeAndCheckpoint(store.engine);
            writeAndCheckpoint(store.engine);
            store.awaitProvisioned();
            assertThat(logs(store.disk)).isLessThan(during.get(during.size() - 1));
        }
    }

    private static void writeAndCheckpoint(Engine engine) {
        for (int i = 0; i < 15; i++) {
            engine.append(i % LISTS, new byte[4_000]).join();
            engine.trim(i % LISTS, 1).join();
        }
        engine.checkpoint();
    }

    private static int logs(MemoryStorage disk) {
        return (int) disk.list().stream().filter(name -> name.endsWith(".wal")).count();
    }

    @Test
    void closingStoreEndsBackup() throws Exception {
        Engine engine = Engine.open(CONFIG, new MemoryStorage(), System::nanoTime);
        write(engine, new SplittableRandom(1), WRITES_BEFORE);

        assertThatThrownBy(() -> engine.backup(new MemoryStorage(), (done, total) -> engine.close()))
                .isInstanceOf(StoreClosedException.class);
    }

    @Test
    void throwingProgressListenerEndsOnlyBackup() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            BackupReport.Progress cancels = (done, total) -> {
                throw new IllegalStateException("cancelled");
            };
            assertThatThrownBy(() -> store.engine.backup(new MemoryStorage(), cancels))
                    .hasMessage("cancelled");

            writeAndCheckpoint(store.engine);
            assertThat(store.engine
                            .backup(new MemoryStorage(), BackupReport.Progress.NONE)
                            .files())
                    .isGreaterThan(1);
        }
    }
}
