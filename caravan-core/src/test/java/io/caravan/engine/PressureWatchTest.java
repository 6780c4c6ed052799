package io.caravan.engine;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.caravan.StoreConfig;
import io.caravan.StoreStats.HeapUse;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

@LongTimeout
class PressureWatchTest {
    private static final long MAX = 100L * FaultyStore.HEAP_SEGMENT_BYTES;

    private final List<Boolean> changes = new ArrayList<>();

    private PressureWatch watch(double usedThreshold, double fragmentationThreshold) {
        return new PressureWatch(FaultyStore.small()
                .maxHeapBytes(MAX)
                .heapPressure(
                        usedThreshold, fragmentationThreshold, (high, used, fragmentation) -> this.changes.add(high))
                .build());
    }

    private static HeapUse used(double fraction) {
        return new HeapUse(MAX, (long) Math.ceil(fraction * MAX), 1000, 1000, 1000);
    }

    private static HeapUse fragmented(double fragmentation) {
        return new HeapUse(MAX, 0, 1000, Math.round(1000 * (1 - fragmentation)), 1000);
    }

    @Test
    void reportsPressureOnceWhenThresholdIsReached() {
        PressureWatch watch = watch(0.8, 1);
        for (double fraction : new double[] {0, 0.5, 0.79, 0.8, 0.9, 0.81, 1}) {
            watch.check(() -> used(fraction));
        }
        assertThat(changes).containsExactly(true);
    }

    @Test
    void pressureEndsOnlyWellBelowThreshold() {
        PressureWatch watch = watch(0.8, 1);
        for (double fraction : new double[] {0.85, 0.79, 0.81, 0.73, 0.79, 0.71, 0.79, 0.80, 0.75}) {
            watch.check(() -> used(fraction));
        }
        assertThat(changes).containsExactly(true, false, true);
    }

    @Test
    void fragmentationCausesPressureUntilBothMeasuresFall() {
        PressureWatch watch = watch(0.8, 0.5);
        watch.check(() -> fragmented(0.4));
        watch.check(() -> fragmented(0.6));
        watch.check(() -> used(0.79));
        assertThat(changes).containsExactly(true);
        watch.check(() -> fragmented(0.1));
        assertThat(changes).containsExactly(true, false);
    }

    @Test
    void thresholdOfOneIsIgnored() {
        PressureWatch usedOnly = watch(0.8, 1);
        usedOnly.check(() -> new HeapUse(MAX, (long) (0.85 * MAX), 1000, 0, 1000));
        usedOnly.check(() -> new HeapUse(MAX, (long) (0.1 * MAX), 1000, 0, 1000));
        assertThat(changes).containsExactly(true, false);
        changes.clear();
        PressureWatch fragmentationOnly = watch(1, 0.5);
        fragmentationOnly.check(() -> new HeapUse(MAX, MAX, 1000, 100, 1000));
        fragmentationOnly.check(() -> new HeapUse(MAX, MAX, 1000, 1000, 1000));
        assertThat(changes).containsExactly(true, false);
    }

    @Test
    void throwingListenerIsNotifiedOfNextCrossing() {
        List<Boolean> seen = new ArrayList<>();
        PressureWatch watch = new PressureWatch(FaultyStore.small()
                .maxHeapBytes(MAX)
                .heapPressure(0.5, 1, (high, used, fragmentation) -> {
                    seen.add(high);
                    throw new IllegalStateException("a listener's own mistake, thrown on purpose");
                })
                .build());
        watch.check(() -> used(0.9));
        watch.check(() -> used(0.1));
        assertThat(seen).containsExactly(true, false);
    }

    /** Checks that the listener is notified of pressure before relief when two threads check concurrently. */
    @Test
    void reportsCrossingsInOrderWhenThreadsCheckConcurrently() {
        AtomicReference<PressureWatch> checked = new AtomicReference<>();
        AtomicReference<HeapUse> use = new AtomicReference<>(used(0.9));
        checked.set(new PressureWatch(FaultyStore.small()
                .maxHeapBytes(MAX)
                .heapPressure(0.8, 1, (high, used, fragmentation) -> {
                    if (high) {
                        use.set(used(0.1));
                        Thread other = new Thread(() -> checked.get().check(use::get));
                        other.start();
                        Eventually.await("the other check ends", () -> !other.isAlive());
                    }
                    changes.add(high);
                })
                .build()));
        checked.get().check(use::get);
        assertThat(changes).containsExactly(true, false);
    }

    @Test
    void watchesNothingWithoutListener() {
        new PressureWatch(FaultyStore.small().build()).check(() -> {
            throw new AssertionError("computes the use of the heap");
        });
    }

    /** The arguments and the thread of one call to the heap pressure listener. */
    private record ListenerCall(boolean high, double used, String thread) {}

    /**
     * Checks that relief is reported when trimmed values are freed, which is long after the flush of the trim and needs
     * no further write.
     */
    @Test
    void openStoreReportsPressureAndRelief() {
        List<ListenerCall> listenerCalls = new CopyOnWriteArrayList<>();
        StoreConfig config = FaultyStore.small()
                .heapSegmentBytes(1 << 20)
                .maxHeapBytes(1 << 20)
                .heapPressure(
                        0.5,
                        1,
                        (high, used, fragmentation) -> listenerCalls.add(new ListenerCall(
                                high, used, Thread.currentThread().getName())))
                .build();
        try (FaultyStore store = FaultyStore.open(config)) {
            int count = 0;
            while (listenerCalls.isEmpty()) {
                await(store.engine.append(1, bytes(100, count++)));
            }
            assertThat(count).as("appends until the mark").isBetween(4_000, 5_000);
            assertThat(listenerCalls.get(0).high()).isTrue();
            assertThat(listenerCalls.get(0).used()).isCloseTo(0.5, within(0.01));
            assertThat(listenerCalls.get(0).thread()).startsWith("caravan-");
            awaitWrite(changes -> store.engine.trim(1, Long.MAX_VALUE, changes));
            Eventually.await("relief is reported", () -> listenerCalls.size() == 2);
            assertThat(listenerCalls.get(1).high()).isFalse();
            assertThat(listenerCalls.get(1).used()).isLessThan(0.45);
        }
    }
}
