package io.caravan.server;

import io.caravan.ListStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops a server when the process is told to end: accepts nothing more, finishes what was accepted, closes the store. Then
 * it ends the process: with 0, because a stop that was asked for and went well is no failure; with 1 when it did not.
 */
final class Shutdown implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    /** What the connections may take of it; the store gets the rest. */
    private static final Duration DRAIN_DEADLINE = Duration.ofSeconds(6);

    private final Server server;
    private final ListStore store;

    Shutdown(Server server, ListStore store) {
        this.server = server;
        this.store = store;
    }

    @Override
    public void run() {
        LOG.info("stopping");
        int exitCode = CompletableFuture.supplyAsync(this::stop)
                .completeOnTimeout(1, DEADLINE.toSeconds(), TimeUnit.SECONDS)
                .join();
        LOG.info(exitCode == 0 ? "stopped" : "stopped, not cleanly: what was answered is in the log");
        Runtime.getRuntime().halt(exitCode);
    }

    private int stop() {
        try {
            server.stop(DRAIN_DEADLINE);
            // Says so if the store has failed, which closing does not.
            store.flush();
            store.close();
            return 0;
        } catch (RuntimeException problem) {
            LOG.error("the stop failed: {}", problem.getMessage());
            return 1;
        }
    }
}
