package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PacedObjectStoreTest {
    private static final long BYTES_PER_SECOND = 1_000_000;

    private final MemoryObjectStore objects = new MemoryObjects(InstantSource.system()).client();
    private final AtomicLong written = new AtomicLong();

    private PacedObjectStore paced(long bytesPerSecond) {
        return new PacedObjectStore(objects, bytesPerSecond, written::addAndGet);
    }

    private static Duration taking(PacedObjectStore paced, int times, int bytes) throws InterruptedIOException {
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            paced.pay(bytes);
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void limitsByteRate() throws Exception {
        PacedObjectStore paced = paced(BYTES_PER_SECOND);
        // The bytes of the first 0.1 s are free, and the bytes of the last call delay only a later call.
        assertThat(taking(paced, 11, 50_000)).isGreaterThanOrEqualTo(Duration.ofMillis(399));
    }

    @Test
    void threadsShareRateLimit() throws Exception {
        PacedObjectStore paced = paced(BYTES_PER_SECOND);
        long start = System.nanoTime();
        CompletableFuture<?>[] all = new CompletableFuture<?>[4];
        for (int i = 0; i < all.length; i++) {
            all[i] = CompletableFuture.runAsync(() -> {
                try {
                    taking(paced, 10, 20_000);
                } catch (InterruptedIOException stopped) {
                    throw new AssertionError(stopped);
                }
            });
        }
        CompletableFuture.allOf(all).get();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(650));
    }

    /** A store without a limit must not delay calls. With any limit, this test would take hours. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void doesNotDelayWithoutLimit() throws Exception {
        PacedObjectStore paced = paced(0);
        taking(paced, 1000, Integer.MAX_VALUE);
        assertThat(written).hasValue(1000L * Integer.MAX_VALUE);
    }

    @Test
    void interruptEndsWait() {
        PacedObjectStore paced = paced(1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> taking(paced, 3, 1000)).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void countsWrittenBytes() {
        PacedObjectStore paced = paced(0);
        paced.put("a", out -> {
            out.write(1);
            out.write(new byte[200_000]);
        });
        paced.putIf("b", new byte[10], null);
        assertThat(written).hasValue(200_011);
        assertThat(objects.get("a", 1_000_000).content()).hasSize(200_001);
    }
}
