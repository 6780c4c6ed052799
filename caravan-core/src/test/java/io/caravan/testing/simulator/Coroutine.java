package io.caravan.testing.simulator;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * A piece of code that can stop at any point and is resumed later. It runs on its own thread. The resumer waits until
 * the code stops or ends, so only one of the two runs at a time.
 */
final class Coroutine {
    private static final ExecutorService CARRIERS = Executors.newCachedThreadPool(task -> {
        Thread carrier = new Thread(task, "simulated thread");
        carrier.setDaemon(true);
        return carrier;
    });

    private final Semaphore resumed = new Semaphore(0);
    private final Semaphore stopped;
    private boolean done;

    /** Creates a coroutine that begins when it is first resumed. */
    Coroutine(Runnable body) {
        this(body, new Semaphore(0));
    }

    /**
     * Creates one of several coroutines that {@linkplain #switchTo switch to} each other. The resumer of one of them
     * waits until any of them stops.
     */
    Coroutine(Runnable body, Semaphore stopped) {
        this.stopped = stopped;
        CARRIERS.execute(() -> {
            resumed.acquireUninterruptibly();
            try {
                body.run();
            } finally {
                done = true;
                stopped.release();
            }
        });
    }

    /** Resumes the code, and returns when the code suspends itself or ends. */
    void resume() {
        resumed.release();
        stopped.acquireUninterruptibly();
    }

    /** Suspends the running code until it is resumed. Called by the code itself. */
    void suspend() {
        stopped.release();
        resumed.acquireUninterruptibly();
    }

    /** Suspends the running code and resumes another coroutine. Called by the code itself. */
    void switchTo(Coroutine other) {
        other.resumed.release();
        resumed.acquireUninterruptibly();
    }

    boolean done() {
        return done;
    }
}
