package io.caravan;

import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.ListStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests the contract of a store on disk, with buffers and segments so small that every test uses many of them. */
@Execution(ExecutionMode.CONCURRENT)
class DurableListStoreTest extends ListStoreContract {
    private static final int KIB = 1024;
    static final int MAX_VALUE_BYTES = 8 * KIB;

    @TempDir
    private Path directory;

    @Override
    protected ListStore open() {
        return DurableListStore.open(config(directory).build());
    }

    /**
     * Returns a config with small sizes. A memory store with this config rejects the same writes as a durable store.
     */
    static StoreConfig.Builder config(Path directory) {
        return StoreConfig.builder(directory)
                .maxValueBytes(MAX_VALUE_BYTES)
                .logBufferBytes(16 * KIB)
                .logSegmentBytes(64 * KIB)
                .heapSegmentBytes(64 * KIB)
                .checkpointFloorBytes(128 * KIB);
    }

    @Override
    public boolean durable() {
        return true;
    }

    @Override
    protected ListStore reopen(ListStore closed) {
        return open();
    }

    @Override
    protected void verify(ListStore closed) {
        VerifyReport report = DurableListStore.verify(directory, VerifyReport.Progress.NONE);
        assertThat(report.faults()).isEmpty();
    }

    @Override
    public int maxValueBytes() {
        return MAX_VALUE_BYTES;
    }

    /** Checks that a deleted list's heap segments are kept while the log after the older checkpoint refers to them. */
    @Test
    void keepsHeapSegmentsReferencedByRetainedLog() {
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 4_000; i++) {
                store().append(1, bytes("v" + i), NO_CALLBACK);
            }
            awaitWrite(reported -> store().delete(1, reported));
            closeAndReopen();
        }
    }
}
