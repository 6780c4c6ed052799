package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A caller that writes only when the store is writable, as an event loop does: the store becomes writable again and
 * again.
 */
class WritabilityTest {
    private static final int KIB = 1024;

    @TempDir
    private Path directory;

    /** Each append flushes one block, so the last one of every segment ends exactly where the segment ends. */
    @Test
    void aLogSegmentThatIsFullToItsLastByteDoesNotEndWritability() throws InterruptedException {
        StoreConfig config = StoreConfig.builder(directory)
                .maxValueBytes(KIB)
                .logBufferBytes(8 * KIB)
                .logSegmentBytes(16 * KIB)
                .heapSegmentBytes(64 * KIB)
                .build();
        try (ListStore store = DurableListStore.open(config)) {
            for (int i = 0; i < 40; i++) {
                CountDownLatch writable = new CountDownLatch(1);
                store.onWritable(writable::countDown);
                assertThat(writable.await(20, TimeUnit.SECONDS))
                        .as("writable before append %d", i)
                        .isTrue();
                assertThat(store.append(1, new byte[KIB]).join()).isEqualTo(i);
            }
        }
    }
}
