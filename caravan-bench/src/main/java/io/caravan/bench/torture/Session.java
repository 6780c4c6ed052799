package io.caravan.bench.torture;

import java.io.IOException;
import java.time.Duration;

/** One process on the store, from its start to its end, with the ledger of what it was asked and said. */
interface Session extends AutoCloseable {
    /** How long anything may take before it counts as hanging. */
    Duration PATIENCE = Duration.ofSeconds(60);

    /** What was said; complete once the process has ended. */
    Ledger ledger();

    /**
     * Waits until the process has got where it should: open for a working one, all told for a reading one.
     *
     * @return how long after the process's start that was, in nanoseconds
     */
    long awaitMilestone() throws IOException, InterruptedException;

    /** Has each worker wait for the answer to each change before it asks for the next; returns when that is so. */
    void oneAtATime() throws IOException, InterruptedException;

    /** Has the process stand still, with SIGSTOP. */
    void pause() throws IOException;

    /** Lets it go on, with SIGCONT. */
    void resume() throws IOException;

    /** Kills the process with SIGKILL, hears it out, and checks that this is what it died of. */
    void kill() throws IOException, InterruptedException;

    /** Has the process close the store and end, hears it out, and checks that it did. */
    void stop() throws IOException, InterruptedException;

    /** Leaves no process behind; one that should have ended before first tells what its threads are doing. */
    @Override
    void close();
}
