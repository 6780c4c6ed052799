package io.caravan.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Counts the requests and replies of a load, and records the latencies, second by second. */
public final class Timeline {
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int DIGITS = 3;

    private final long startNanos;
    private final List<Second> seconds = new ArrayList<>();
    private final Second afterEnd = new Second();

    Timeline(long startNanos, int seconds) {
        this.startNanos = startNanos;
        for (int i = 0; i < seconds; i++) {
            this.seconds.add(new Second());
        }
    }

    /** Returns the time at which the first request was due. */
    long startNanos() {
        return startNanos;
    }

    void sent(long nowNanos) {
        at(nowNanos).sent();
    }

    void replied(long dueNanos, long nowNanos, boolean error) {
        at(nowNanos).ended(error);
        at(dueNanos).waited(TimeUnit.NANOSECONDS.toMicros(nowNanos - dueNanos));
    }

    void abandoned(long dueNanos, long nowNanos) {
        at(dueNanos).ended(true);
        at(dueNanos).waited(TimeUnit.NANOSECONDS.toMicros(nowNanos - dueNanos));
    }

    private Second at(long nanos) {
        long index = (nanos - startNanos) / SECOND_NANOS;
        return index < seconds.size() ? seconds.get((int) index) : afterEnd;
    }

    /** Returns the seconds in which requests were due. */
    public List<Second> seconds() {
        return seconds;
    }

    /** Returns the counts for the time after the last second of the load; no request was due during that time. */
    public Second afterEnd() {
        return afterEnd;
    }

    /**
     * Returns the latencies, in microseconds, of all requests that were due in or after the given second, counted from
     * 0.
     */
    public Histogram waitsFrom(int second) {
        Histogram waits = new Histogram(DIGITS);
        seconds.subList(second, seconds.size()).forEach(each -> waits.add(each.waits()));
        return waits;
    }

    /**
     * The counts and latencies for one second of a load.
     *
     * <p>A request counts in the second in which it was sent, and a reply in the second in which it was received. A
     * request that never gets a reply counts as a failure of the second in which it was due. The latencies are those of
     * all requests due in this second, even if the reply arrived later. The latency of a request without a reply is the
     * time until the load gave up.
     */
    public static final class Second {
        private static final int DIGITS = 3;

        private final Histogram waits = new Histogram(DIGITS);
        private long sent;
        private long acks;
        private long failures;

        void sent() {
            sent++;
        }

        void ended(boolean error) {
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

        /** Latencies in microseconds, measured from the time at which each request was due. */
        public Histogram waits() {
            return waits;
        }
    }
}
