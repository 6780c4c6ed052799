package io.caravan.bench.torture;

import java.io.IOException;
import java.time.Duration;

/** One process on the store, from start to end, with the ledger of its requests and messages. */
interface Session extends AutoCloseable {
    /** How long an operation may take before it counts as hanging. */
    Duration PATIENCE = Duration.ofSeconds(60);

    /** The ledger; complete once the process has ended. */
    Ledger ledger();

    /**
     * Waits until the process has reached its goal: the store is open for a working one, and completely read for a
     * reading one.
     *
     * @return time since the start of the process, in nanoseconds
     */
    long awaitMilestone() throws IOException, InterruptedException;

    /**
     * Makes each worker wait for the answer to a change before it requests the next one; returns when that has taken
     * effect.
     */
    void oneAtATime() throws IOException, InterruptedException;

    /** Suspends the process with SIGSTOP. */
    void pause() throws IOException;

    /** Resumes the process with SIGCONT. */
    void resume() throws IOException;

    /** Kills the process with SIGKILL, reads its remaining messages, and checks that it died of the signal. */
    void kill() throws IOException, InterruptedException;

    /** Makes the process close the store and exit, reads its remaining messages, and checks that it did. */
    void stop() throws IOException, InterruptedException;

    /** Kills the process if it is still running; if it should have exited before, dumps its threads first. */
    @Override
    void close();
}
