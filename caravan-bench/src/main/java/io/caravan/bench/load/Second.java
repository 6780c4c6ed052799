package io.caravan.bench.load;

import org.HdrHistogram.Histogram;

/**
 * One second of a load.
 *
 * <p>What was sent and answered counts in the second in which it was; a request that was never answered is a failure of
 * the second in which it was due. Waits are those of all requests that were due in this second, whenever they were
 * answered; one that never was has waited until the load was given up.
 */
public final class Second {
    private static final int DIGITS = 3;

    private final Histogram waits = new Histogram(DIGITS);
    private long sent;
    private long acks;
    private long failures;

    void sent() {
        sent++;
    }

    void answered(boolean error) {
        if (error) {
            failures++;
        } else {
            acks++;
        }
    }

    void waited(long micros) {
        waits.recordValue(micros);
    }

    /** Requests sent. */
    public long sentCount() {
        return sent;
    }

    /** Answers that were no errors. */
    public long acks() {
        return acks;
    }

    /** Answers that were errors, and requests without an answer. */
    public long failures() {
        return failures;
    }

    /** In microseconds, from when each request was due. */
    public Histogram waits() {
        return waits;
    }
}
