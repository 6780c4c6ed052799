package io.caravan.bench.fragmentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.heap.IndexedHeap;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Two heaps go through the same life, and the live bytes stay about the same. */
class ServerLifeTest {
    private static final int STEPS = 20_000;

    private final MeasuredHeap indexed = new MeasuredHeap(new IndexedHeap());
    private final MeasuredHeap firstFit = new MeasuredHeap(new FirstFitHeap());

    @Test
    void isTheSameOnBothHeaps() {
        ServerLife one = new ServerLife(1, 50, indexed);
        ServerLife other = new ServerLife(1, 50, firstFit);
        for (int i = 0; i < STEPS; i++) {
            one.step();
            other.step();
            assertThat(firstFit.usedBytes()).isEqualTo(indexed.usedBytes());
        }
        assertThat(other.writtenBytes()).isEqualTo(one.writtenBytes());
        assertThat(firstFit.mostUsedBytes()).isEqualTo(indexed.mostUsedBytes());
        assertThat(indexed.extentBytes()).isGreaterThanOrEqualTo(indexed.mostUsedBytes());
    }

    @Test
    void keepsAboutTheSameLive() {
        ServerLife life = new ServerLife(1, 400, indexed);
        for (int i = 0; i < 10 * STEPS; i++) {
            life.step();
        }
        double live = (double) indexed.usedBytes() / life.bornBytes();
        assertThat(live).isCloseTo(1, Offset.offset(0.2));
    }
}
