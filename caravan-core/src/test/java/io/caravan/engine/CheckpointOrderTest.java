package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.told;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.VerifyReport;
import io.caravan.inspect.Verifier;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import io.caravan.testing.WatchedScheduler;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A kill after any creation, renaming, or deletion of a file around a checkpoint leaves an intact store. */
@Timeout(600)
class CheckpointOrderTest {

    @Test
    void everyCheckpointThatIsThereCanBeRecoveredFromAtEveryMoment() throws Exception {
        List<DirectoryImage> moments = new CopyOnWriteArrayList<>();
        MemoryStorage storage = new MemoryStorage();
        StoreContents contents;
        WatchedScheduler threads = new WatchedScheduler();
        try (Engine engine =
                Engine.open(SmallStore.config(Path.of("image")).build(), storage, System::nanoTime, threads)) {
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 20; i++) {
                    append(engine, i % 3, "round " + round + " value " + i);
                }
                await(engine.append(9, bytes(4_000, round)));
                told(callback -> engine.trim(1, 5, callback));
                contents = StoreContents.of(engine);
                threads.awaitRest();
                // The store is idle. From here on, only the checkpoint changes files.
                storage.afterEachStep(() -> moments.add(storage.image()));
                engine.checkpoint();
                // The provisioner deletes what the checkpoint has released.
                threads.awaitRest();
                storage.afterEachStep(() -> {});
                check(moments, contents);
                moments.clear();
            }
        }
    }

    private static void check(List<DirectoryImage> moments, StoreContents contents) throws Exception {
        assertThat(moments).isNotEmpty();
        for (DirectoryImage moment : moments) {
            assertThat(Verifier.verify(new MemoryStorage(moment), VerifyReport.Progress.NONE)
                            .faults())
                    .as("kill with " + moment.files().keySet())
                    .isEmpty();
            try (Engine reopened = Engine.open(
                    SmallStore.config(Path.of("image")).build(), new MemoryStorage(moment), System::nanoTime)) {
                assertThat(StoreContents.of(reopened)).isEqualTo(contents);
            }
        }
    }
}
