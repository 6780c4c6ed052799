package io.caravan;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
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
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MemoryListStoreTest extends ListStoreContract {
    private static final int MAX_VALUE_BYTES = 8 * 1024;

    @Override
    protected ListStore open() {
        return new MemoryListStore(MAX_VALUE_BYTES);
    }

    @Override
    public int maxValueBytes() {
        return MAX_VALUE_BYTES;
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
