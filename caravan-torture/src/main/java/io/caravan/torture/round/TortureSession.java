package io.caravan.torture.round;

import io.caravan.torture.model.Ledger;
import java.io.IOException;
import java.time.Duration;

/** A process that uses the store, and the ledger of its requests and messages. */
public abstract class TortureSession implements AutoCloseable {
    /** The time after which an operation counts as hung. */
    public static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final String subject;
    private final Ledger ledger;
    private final long startNanos = System.nanoTime();

    /**
     * Creates a session that begins now.
     *
     * @param subject name of the process in reports of problems
     */
    public TortureSession(String subject, Ledger ledger) {
        this.subject = subject;
        this.ledger = ledger;
    }

    /** Returns the ledger, which is complete once the process has ended. */
    public final Ledger ledger() {
        return ledger;
    }

    /**
     * Waits until the process has reached its milestone: a working process has opened the store, or a reading process
     * has read all of it.
     *
     * @return time since the start of the process, in nanoseconds
     */
    public final long awaitMilestone() throws IOException, InterruptedException {
        ledger.awaitMilestone(TIMEOUT.toSeconds());
        return nanosSinceStart();
    }

    public final long nanosSinceStart() {
        return System.nanoTime() - startNanos;
    }

    /** Reports a problem if the process has ended with an unexpected status. */
    public final void checkExit(int status, int expectedStatus) {
        if (status != expectedStatus) {
            ledger.problem(subject + " exited with status " + status + " instead of " + expectedStatus);
        }
    }

    /**
     * Makes each worker wait for the result of a change before it requests the next one; returns when this has taken
     * effect. Not necessary for an embedded store, which reports a lack of space immediately, and whose child forwards
     * the report before it continues.
     */
    public void oneAtATime() throws IOException, InterruptedException {}

    /** Suspends the process with SIGSTOP. */
    public abstract void pause() throws IOException;

    /** Resumes the process with SIGCONT. */
    public abstract void resume() throws IOException;

    /** Kills the process with SIGKILL, reads its remaining messages, and checks that the signal ended it. */
    public abstract void kill() throws IOException, InterruptedException;

    /** Makes the process close the store and exit, reads its remaining messages, and checks its exit status. */
    public abstract void stop() throws IOException, InterruptedException;

    /** Kills the process if it is still running; if it should already have exited, dumps its threads first. */
    @Override
    public abstract void close();
}
