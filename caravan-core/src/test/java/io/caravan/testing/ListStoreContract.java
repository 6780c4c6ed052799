package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.StoreClosedException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the contract of {@link ListStore}. A subclass opens one implementation, and inherits a test for every sentence
 * of the interface documentation.
 *
 * <p>After every test, the store is closed, verified, and opened again, and must return the same contents as before.
 * Each test runs on its own thread, so that a store that hangs fails the test instead of the build.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class ListStoreContract
        implements AppendContract,
                BatchContract,
                TrimContract,
                ReadContract,
                CallbackContract,
                FutureContract,
                LifecycleContract,
                InterruptContract,
                ConcurrencyContract {

    private static final int RANDOM_RUNS = 3;
    private static final int RANDOM_OPERATIONS = 2_000;

    private ListStore store;

    /** Opens an empty store. */
    protected abstract ListStore open();

    /** Opens a closed store again. A subclass that overrides this method also overrides {@link #durable()}. */
    protected ListStore reopen(ListStore closed) {
        throw new UnsupportedOperationException("this store keeps nothing: " + closed);
    }

    /** Throws if the files of the closed store are not intact. */
    protected void verify(ListStore closed) {
        assertThat(closed).isNotNull();
    }

    /** Returns the number of random test runs. Override it to make fewer runs on a store with slow writes. */
    protected int randomRuns() {
        return RANDOM_RUNS;
    }

    protected int randomOperations() {
        return RANDOM_OPERATIONS;
    }

    @Override
    public boolean durable() {
        return false;
    }

    @Override
    public ListStore store() {
        return store;
    }

    @Override
    public ListStore closeAndReopen() {
        store = closeAndReopen(store);
        return store;
    }

    private ListStore closeAndReopen(ListStore open) {
        open.close();
        verify(open);
        return durable() ? reopen(open) : open();
    }

    @BeforeEach
    void openStore() {
        store = open();
    }

    @AfterEach
    @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void closeReopenAndCompare() {
        if (!durable()) {
            store.close();
            return;
        }
        if (isOpen()) {
            StoreContents before = StoreContents.of(store);
            closeAndReopen();
            assertThat(StoreContents.of(store)).isEqualTo(before);
        }
        store.close();
        verify(store);
    }

    private boolean isOpen() {
        try {
            return store.info(0) != null || store.writable();
        } catch (StoreClosedException closed) {
            return false;
        }
    }

    @Test
    void matchesModelUnderRandomOperations() {
        Seeds.forEach(randomRuns(), seed -> {
            deleteAll();
            ModelLists model = new ModelLists(maxValueBytes());
            RandomOperations operations =
                    new RandomOperations(seed, new RandomOperations.Shape(20, maxValueBytes(), maxValueBytes()), model);
            store = new ModelRun(store, model, durable() ? this::closeAndReopen : same -> same)
                    .run(operations, randomOperations());
        });
    }

    private void deleteAll() {
        store.forEachList(id -> StoreCalls.awaitWrite(reported -> store.delete(id, reported)));
    }
}
