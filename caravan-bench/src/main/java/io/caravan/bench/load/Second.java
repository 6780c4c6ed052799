package io.caravan.bench.load;

import org.HdrHistogram.Histogram;

/**
 * One second of a load.
 *
 * <p>Requests and replies count in the second in which they were sent or received. A request that never gets a reply
 * counts as a failure of the second in which it was due. Latencies are those of all requests due in this second, even
 * if the reply arrived later; a request without a reply has waited until the load gave up.
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

    /** Number of successful replies. */
    public long acks() {
        return acks;
    }

    /** Number of error replies and requests without a reply. */
    public long failures() {
        return failures;
    }

    /** Latencies in microseconds, from when each request was due. */
    public Histogram waits() {
        return waits;
    }
}
