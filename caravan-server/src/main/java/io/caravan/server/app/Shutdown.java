package io.caravan.server.app;

import io.caravan.ListStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops a server when the process is told to end: accepts nothing more, finishes what was accepted, archives what has
 * changed if that is wanted, closes the store. Then it ends the process: with exit code 0 after a clean stop, and with
 * 1 otherwise.
 */
public final class Shutdown implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private final Work work;
    private final Duration timeout;
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean failed;

    /** Stops what is served. */
    @FunctionalInterface
    public interface Work {
        /**
         * Stops it, cleanly.
         *
         * @param connections how long the clients may take
         * @param all how long the clients and the archive may take together
         * @throws Exception when that did not succeed
         */
        void stop(Duration connections, Duration all) throws Exception;
    }

    /** A shutdown that may take so long; then the process ends, whatever is unfinished. */
    public Shutdown(Work work, Duration timeout) {
        this.work = work;
        this.timeout = timeout;
        // Now, because there may be no memory for another thread when the process is to end.
        Thread limit = new Thread(this::haltInTime, "caravan-stop-limit");
        limit.setDaemon(true);
        limit.start();
    }

    /** The shutdown of a server and its store. */
    public Shutdown(Server server, ListStore store, Duration timeout) {
        this(
                (connections, all) -> {
                    server.stop(connections, all);
                    // Unlike close(), this throws if the store has failed.
                    store.flush();
                    store.close();
                },
                timeout);
    }

    /** The process ends because something has failed, and its exit code will say so. */
    public void failed() {
        failed = true;
    }

    @Override
    public void run() {
        begun.countDown();
        LOG.info("stopping");
        halt(stop());
    }

    private void haltInTime() {
        try {
            begun.await();
            TimeUnit.NANOSECONDS.sleep(timeout.toNanos());
            halt(1);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static void halt(int code) {
        try {
            LOG.info(code == 0 ? "stopped" : "stopped, but not cleanly: every answered change is in the store's log");
        } finally {
            Runtime.getRuntime().halt(code);
        }
    }

    private int stop() {
        try {
            // The connections get six tenths of the time, the archive three, and the store the rest.
            Duration tenth = timeout.dividedBy(10);
            work.stop(tenth.multipliedBy(6), tenth.multipliedBy(9));
            return failed ? 1 : 0;
        } catch (Exception | Error problem) {
            LOG.error("the stop failed: {}", problem.toString());
            return 1;
        }
    }
}
