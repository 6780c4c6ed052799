package io.caravan.bench.timers;

import java.util.ArrayList;
import java.util.List;

/** A machine that is busy: as many threads as cores that do nothing but spin, until this is closed. */
final class BusyCores implements AutoCloseable {
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    /** Makes none busy when that is asked for, so that an idle machine can be had in the same way. */
    BusyCores(boolean busy) {
        int count = busy ? Runtime.getRuntime().availableProcessors() : 0;
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(this::spin, "busy-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    private void spin() {
        while (!closed) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
