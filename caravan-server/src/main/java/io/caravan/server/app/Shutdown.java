package io.caravan.server.app;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops a server and its store when the process must end, and exits with 0 after a clean stop, or 1. */
public final class Shutdown implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private final Work work;
    private final Duration timeout;
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean failed;

    @FunctionalInterface
    public interface Work {
        /** Stops the server within a limit for clients, and one for clients and archive together. */
        void stop(Duration connections, Duration all) throws Exception;
    }

    /** Creates a shutdown with a limit, after which the process ends even if the server has not stopped. */
    public Shutdown(Work work, Duration timeout) {
        this.work = work;
        this.timeout = timeout;
        // Starts the thread now, because memory for it may be unavailable when the process must end.
        Thread limit = new Thread(this::haltInTime, "caravan-stop-limit");
        limit.setDaemon(true);
        limit.start();
    }

    /** Records that the process ends because of a failure; its exit code will be 1. */
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
            LOG.info(code == 0 ? "stopped" : "stopped, but not cleanly: acknowledged writes are in the store's log");
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
