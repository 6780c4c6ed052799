package io.caravan.server.app;

import io.caravan.ListStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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

    private final Server server;
    private final ListStore store;
    private final Duration timeout;

    /** A shutdown that may take so long; then the process ends, whatever is unfinished. */
    public Shutdown(Server server, ListStore store, Duration timeout) {
        this.server = server;
        this.store = store;
        this.timeout = timeout;
    }

    @Override
    public void run() {
        LOG.info("stopping");
        int exitCode = CompletableFuture.supplyAsync(this::stop)
                .completeOnTimeout(1, timeout.toNanos(), TimeUnit.NANOSECONDS)
                .join();
        LOG.info(exitCode == 0 ? "stopped" : "stopped, but not cleanly: every answered change is in the store's log");
        Runtime.getRuntime().halt(exitCode);
    }

    private int stop() {
        try {
            // The connections get six tenths of the time, the archive three, and the store the rest.
            Duration tenth = timeout.dividedBy(10);
            server.stop(tenth.multipliedBy(6), tenth.multipliedBy(9));
            // Unlike close(), this throws if the store has failed.
            store.flush();
            store.close();
            return 0;
        } catch (RuntimeException problem) {
            LOG.error("the stop failed: {}", problem.getMessage());
            return 1;
        }
    }
}
