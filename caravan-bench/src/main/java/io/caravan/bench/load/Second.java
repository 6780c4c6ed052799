package io.caravan.bench.load;

import org.HdrHistogram.Histogram;

/**
 * One second of a load.
 *
 * <p>A request counts in the second in which it was sent, and a reply in the second in which it was received. A request
 * that never gets a reply counts as a failure of the second in which it was due. The latencies are those of all
 * requests due in this second, even if the reply arrived later. The latency of a request without a reply is the time
 * until the load gave up.
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
