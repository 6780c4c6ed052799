package io.caravan;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.testing.CallbackContract;
import io.caravan.testing.ListStoreContract;
import io.caravan.testing.ModelLists;
import io.caravan.testing.ModelRun;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryListStoreTest extends ListStoreContract {

    @Override
    protected ListStore open() {
        return new MemoryListStore(
                DurableListStoreTest.config(Path.of("not touched")).build());
    }

    @Override
    public int maxValueBytes() {
        return DurableListStoreTest.MAX_VALUE_BYTES;
    }

    @TempDir
    private Path directory;

    /** Fills both heaps with values that leave no holes, trims, and fills them again. */
    @Test
    void anAppendIsRefusedWhenADurableHeapWouldHaveNoSpace() {
        int segmentBytes = 64 * 1024;
        StoreConfig config = DurableListStoreTest.config(directory)
                .maxHeapBytes(2 * segmentBytes)
                .build();
        try (ListStore durable = DurableListStore.open(config);
                ListStore memory = new MemoryListStore(config)) {
            assertThat(appendsUntilRefused(memory))
                    .isEqualTo(appendsUntilRefused(durable))
                    .isGreaterThan(10);
            for (ListStore store : List.of(durable, memory)) {
                assertThatExceptionOfType(OutOfSpaceException.class)
                        .isThrownBy(() -> store.write(WriteBatch.create().append(2, bytes(4080, 1)), NOBODY));
                await(store.trim(1, 3));
            }
            assertThat(appendsUntilRefused(memory))
                    .isEqualTo(appendsUntilRefused(durable))
                    .isEqualTo(3);
            await(memory.delete(1));
            assertThat(appendsUntilRefused(memory)).isGreaterThan(10);
        }
    }

    private static int appendsUntilRefused(ListStore store) {
        int appends = 0;
        try {
            while (true) {
                await(store.append(1, bytes(4080, appends)));
                appends++;
            }
        } catch (OutOfSpaceException full) {
            return appends;
        }
    }

    @Test
    @Tag("rounds")
    void longRunsAnswerAsTheModelDoes() {
        Seeds.forEach(Rounds.of(1, 10), seed -> {
            ModelLists model = new ModelLists(64);
            RandomOperations operations = new RandomOperations(seed, new RandomOperations.Shape(200, 64, 200), model);
            new ModelRun(new MemoryListStore(64), model, same -> same)
                    .run(operations, 20_000)
                    .close();
        });
    }

    @Test
    void theLimitIsThatOfADurableStoreUnlessItIsSet() {
        int defaultLimit = StoreConfig.builder(Path.of("data")).build().maxValueBytes();
        try (ListStore store = new MemoryListStore()) {
            store.append(1, bytes(defaultLimit, 0), NOBODY);
            assertThatExceptionOfType(ValueTooLargeException.class)
                    .isThrownBy(() -> store.append(1, bytes(defaultLimit + 1, 0), NOBODY));
        }
    }

    @Test
    void theLimitIsAtLeastOneByte() {
        assertThatIllegalArgumentException().isThrownBy(() -> new MemoryListStore(0));
        assertThatIllegalArgumentException().isThrownBy(() -> new MemoryListStore(-1));
        try (ListStore store = new MemoryListStore(1)) {
            assertThat(append(store, 1, "a")).isEqualTo(0);
        }
    }

    @Test
    void theStoreThreadIsADaemonSoThatAStoreNeedNotBeClosed() {
        CompletableFuture<Boolean> daemon = new CompletableFuture<>();
        try (ListStore store = new MemoryListStore()) {
            CallbackContract.inCallback(
                    store, () -> daemon.complete(Thread.currentThread().isDaemon()));
        }
        assertThat(daemon).isCompletedWithValue(true);
    }
}
