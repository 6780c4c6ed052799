package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.DirectoryImage;
import io.caravan.testing.WatchedScheduler;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that a store can still fsync after two checkpoints have recycled a log segment. A store that had recovered or
 * had just filled a segment once treated an fsynced segment as unsynced, and the next fsync made the store fail
 * permanently. The tests of a store that has just filled a segment are in {@link io.caravan.testing.LifecycleContract}.
 */
class FsyncAfterRecyclingTest {
    private static final int SEGMENT_BYTES = 64 * 1024;

    @TempDir
    Path work;

    @Test
    void recoveredStoreAcceptsWritesAfterSegmentRecycling() throws Exception {
        Path killed = work.resolve("killed");
        WatchedScheduler threads = new WatchedScheduler();
        try (ListStore store = threads.open(config(work.resolve("store")))) {
            for (int bytes = 0; bytes < 3 * SEGMENT_BYTES; bytes += 8 * 1024) {
                store.append(1, new byte[8 * 1024]).join();
            }
            DirectoryImage.ofSettled(work.resolve("store"), threads).writeTo(killed);
        }
        try (ListStore store = DurableListStore.open(config(killed))) {
            long next = store.append(2, new byte[1]).join() + 1;
            for (int i = 0; i < 3; i++) {
                store.checkpoint();
            }
            assertThat(store.append(2, new byte[1]).join()).isEqualTo(next);
            assertThat(store.stats().failures()).isZero();
        }
    }

    private static StoreConfig config(Path directory) {
        return StoreConfig.builder(directory)
                .maxValueBytes(8 * 1024)
                .logBufferBytes(16 * 1024)
                .logSegmentBytes(SEGMENT_BYTES)
                .heapSegmentBytes(1 << 20)
                .build();
    }
}
