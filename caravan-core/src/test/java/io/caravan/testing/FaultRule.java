package io.caravan.testing;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * The treatment of connections by a {@link FaultProxy}. A rule with a limited number of uses counts them down, and then
 * acts like {@link Pass}.
 */
sealed interface FaultRule {
    /** Forwards everything. */
    record Pass() implements FaultRule {}

    /** Resets existing and new connections. */
    record Reject() implements FaultRule {}

    /** Reads from both sides and forwards nothing. */
    record Swallow() implements FaultRule {}

    /** Delays the forwarding of each read. */
    record Delay(long nanos) implements FaultRule {}

    /** Forwards this many bytes a second in each direction of each connection. */
    record Throttle(long bytesPerSecond) implements FaultRule {}

    /** Resets a connection once it has forwarded this many bytes in this direction under this rule. */
    record Cut(FaultProxy.Way way, AtomicInteger times, long afterBytes) implements FaultRule {}

    /** Responds to requests with a matching head. */
    record Response(AtomicInteger times, Predicate<HttpHead> requests, CannedResponse response) implements FaultRule {}

    /** Counts the number of times down by one, unless it is zero. Returns whether it was not zero. */
    static boolean take(AtomicInteger times) {
        return times.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }
}
