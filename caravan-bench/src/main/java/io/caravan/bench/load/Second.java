package io.caravan.bench.load;

import org.HdrHistogram.Histogram;

/**
 * One second of a load.
 *
 * <p>Requests and answers count in the second in which they were sent or received. A request that is never answered
 * counts as a failure of the second in which it was due. Latencies are those of all requests due in this second,
 * whenever they were answered; an unanswered one has waited until the load gave up.
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

    /** Number of requests sent. */
    public long sentCount() {
        return sent;
    }

    /** Number of successful answers. */
    public long acks() {
        return acks;
    }

    /** Number of error answers and unanswered requests. */
    public long failures() {
        return failures;
    }

    /** In microseconds, from when each request was due. */
    public Histogram waits() {
        return waits;
    }
}
