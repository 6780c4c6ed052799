package io.caravan.testing;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A rule for what a {@link FaultProxy} does with its connections. A rule with a limited number of uses counts them
 * down, and then acts like {@link Pass}.
 */
sealed interface FaultRule {
    /** Forwards everything. */
    record Pass() implements FaultRule {}

    /** Resets open connections and new ones. */
    record Reject() implements FaultRule {}

    /** Reads from both sides of a connection and forwards nothing. */
    record Swallow() implements FaultRule {}

    /** Delays every chunk of bytes before it is forwarded. */
    record Delay(long nanos) implements FaultRule {}

    /** Forwards this many bytes per second in each direction of each connection. */
    record Throttle(long bytesPerSecond) implements FaultRule {}

    /** Resets a connection once it has forwarded this many bytes in this direction since the rule took effect. */
    record Cut(FaultProxy.Way way, AtomicInteger times, long afterBytes) implements FaultRule {}

    /** Responds in place of the server to requests with a matching head. */
    record Response(AtomicInteger times, Predicate<HttpHead> requests, CannedResponse response) implements FaultRule {}

    /** Consumes one of the remaining uses of the rule; returns false if none are left. */
    static boolean take(AtomicInteger times) {
        return times.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }
}
