package io.caravan;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.testing.CallbackContract;
import io.caravan.testing.ModelLists;
import io.caravan.testing.ModelRun;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the basic functions and the limits of the in-memory store, which is the durable store with in-memory storage.
 */
class InMemoryListStoreTest {

    private static StoreConfig config(int maxValueBytes) {
        return StoreConfig.builder(Path.of("not touched"))
                .maxValueBytes(maxValueBytes)
                .build();
    }

    @Test
    void createsNoDirectory() {
        try (ListStore store = ListStore.inMemory(config(64))) {
            append(store, 1, "a");
            store.checkpoint();
        }
        assertThat(Path.of("not touched")).doesNotExist();
    }

    /** Checks that values are read-only, whether they come from the log or, after a checkpoint, from the heap. */
    @Test
    void returnsReadOnlyValues() {
        try (ListStore store = ListStore.inMemory()) {
            append(store, 1, "a");
            for (int i = 0; i < 2; i++) {
                store.get(1, (sequence, value) -> {
                    assertThat(value.isReadOnly()).isTrue();
                    assertThat(value.hasArray()).isFalse();
                    return true;
                });
                store.checkpoint();
            }
        }
    }

    /** Compares long random runs with a model; occasional checkpoints move some of the values to the heap. */
    @Test
    @Tag("rounds")
    void longRunsMatchModel() {
        Seeds.forEach(Rounds.of(1, 10), seed -> {
            ModelLists model = new ModelLists(64);
            RandomOperations operations = new RandomOperations(seed, new RandomOperations.Shape(200, 64, 200), model);
            StoreConfig config = DurableListStoreTest.config(Path.of("memory"))
                    .maxValueBytes(64)
                    .checkpointFloorBytes(64 * 1024)
                    .build();
            new ModelRun(ListStore.inMemory(config), model, same -> same)
                    .run(operations, 20_000)
                    .close();
        });
    }

    @Test
    void defaultValueLimitMatchesDurableStore() {
        int defaultLimit = StoreConfig.builder(Path.of("data")).build().maxValueBytes();
        try (ListStore store = ListStore.inMemory()) {
            store.append(1, bytes(defaultLimit, 0), NO_CALLBACK);
            assertThatExceptionOfType(ValueTooLargeException.class)
                    .isThrownBy(() -> store.append(1, bytes(defaultLimit + 1, 0), NO_CALLBACK));
        }
    }

    @Test
    void rejectsValueLimitBelowOneByte() {
        assertThatIllegalArgumentException().isThrownBy(() -> config(0));
        assertThatIllegalArgumentException().isThrownBy(() -> config(-1));
        try (ListStore store = ListStore.inMemory(config(1))) {
            assertThat(append(store, 1, "a")).isEqualTo(0);
        }
    }

    @Test
    void storeThreadIsDaemon() {
        CompletableFuture<Boolean> daemon = new CompletableFuture<>();
        try (ListStore store = ListStore.inMemory()) {
            CallbackContract.inCallback(
                    store, () -> daemon.complete(Thread.currentThread().isDaemon()));
        }
        assertThat(daemon).isCompletedWithValue(true);
    }
}
