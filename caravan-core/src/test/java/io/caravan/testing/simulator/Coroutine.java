package io.caravan.testing.simulator;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * Code that stops in the middle and is resumed later: on a thread of its own, of which the resumer waits until the code
 * stops or ends, so that one of them runs at a time.
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

    /** Begins when it is first resumed. */
    Coroutine(Runnable body) {
        this(body, new Semaphore(0));
    }

    /** One of several that {@linkplain #switchTo switch to} each other; the resumer of one waits for any to stop. */
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

    /** Goes on with it, and returns when it suspends itself or is done. */
    void resume() {
        resumed.release();
        stopped.acquireUninterruptibly();
    }

    /** Stops here until somebody resumes it. Called by the code itself. */
    void suspend() {
        stopped.release();
        resumed.acquireUninterruptibly();
    }

    /** Stops here and goes on with another one. Called by the code itself. */
    void switchTo(Coroutine other) {
        other.resumed.release();
        resumed.acquireUninterruptibly();
    }

    boolean done() {
        return done;
    }
}
