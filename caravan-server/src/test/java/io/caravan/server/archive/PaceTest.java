package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PaceTest {
    private static final long BYTES_PER_SECOND = 1_000_000;

    private final AtomicLong written = new AtomicLong();

    private Pace pace(long bytesPerSecond) {
        return new Pace(bytesPerSecond, written::addAndGet);
    }

    private static Duration taking(Pace pace, int times, int bytes) throws InterruptedIOException {
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            pace.pay(bytes);
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void limitsByteRate() throws Exception {
        Pace pace = pace(BYTES_PER_SECOND);
        // The bytes of the first 0.1 s are free, and the bytes of the last call delay only a later call.
        assertThat(taking(pace, 11, 50_000)).isGreaterThanOrEqualTo(Duration.ofMillis(399));
    }

    @Test
    void threadsShareRateLimit() throws Exception {
        Pace pace = pace(BYTES_PER_SECOND);
        long start = System.nanoTime();
        CompletableFuture<?>[] all = new CompletableFuture<?>[4];
        for (int i = 0; i < all.length; i++) {
            all[i] = CompletableFuture.runAsync(() -> {
                try {
                    taking(pace, 10, 20_000);
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
        Pace pace = pace(0);
        taking(pace, 1000, Integer.MAX_VALUE);
        assertThat(written).hasValue(1000L * Integer.MAX_VALUE);
    }

    @Test
    void interruptEndsWait() {
        Pace pace = pace(1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> taking(pace, 3, 1000)).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void countsWrittenBytes() throws Exception {
        Pace pace = pace(0);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        OutputStream limited = pace.limit(out);
        limited.write(1);
        limited.write(new byte[200_000]);
        pace.waitAfter("b", 10);
        assertThat(written).hasValue(200_011);
        assertThat(out.size()).isEqualTo(200_001);
    }
}
