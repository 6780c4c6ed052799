package io.caravan.bench.timers;

import java.util.ArrayList;
import java.util.List;

/** Keeps the machine busy until closed: as many spinning threads as there are cores. */
final class BusyCores implements AutoCloseable {
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    /** Starts the threads, or none unless {@code busy}, so that callers treat idle and busy machines alike. */
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
