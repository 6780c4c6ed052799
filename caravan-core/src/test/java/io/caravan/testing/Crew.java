package io.caravan.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Several threads that start their work together. An exception in any of them fails the test. */
public final class Crew implements AutoCloseable {

    /** The work of one thread. */
    @FunctionalInterface
    public interface Work {
        void run() throws Exception;
    }

    private final ExecutorService threads = Executors.newCachedThreadPool(Crew::newThread);
    private final CountDownLatch start = new CountDownLatch(1);
    private final List<Future<?>> results = new ArrayList<>();

    private static Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "crew");
        thread.setDaemon(true);
        return thread;
    }

    /** Adds a thread that runs this work after {@link #start()} is called. */
    public Crew add(Work work) {
        results.add(threads.submit(() -> {
            start.await();
            work.run();
            return null;
        }));
        return this;
    }

    /** Starts the work of all threads. */
    public Crew start() {
        start.countDown();
        return this;
    }

    /** Waits for all threads, and rethrows the first failure. */
    public void await() {
        results.forEach(StoreCalls::await);
    }

    /** Starts all threads and waits for them. */
    public void run() {
        start().await();
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
