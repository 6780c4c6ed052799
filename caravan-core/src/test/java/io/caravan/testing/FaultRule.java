package io.caravan.testing;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * What a {@link FaultProxy} does with its connections. A rule that is for some times only counts them down, and is
 * followed by none when they are over.
 */
sealed interface FaultRule {
    /** Forwards everything. */
    record Pass() implements FaultRule {}

    /** Resets connections that are there and those that come. */
    record Refuse() implements FaultRule {}

    /** Reads what both sides send and forwards nothing. */
    record Swallow() implements FaultRule {}

    /** Waits after each read before it forwards. */
    record Delay(long nanos) implements FaultRule {}

    /** Forwards so many bytes a second, each way of each connection. */
    record Throttle(long bytesPerSecond) implements FaultRule {}

    /** Resets a connection when it has forwarded so many bytes this way since the rule came. */
    record Cut(FaultProxy.Way way, AtomicInteger times, long afterBytes) implements FaultRule {}

    /** Answers requests with such a head. */
    record Answer(AtomicInteger times, Predicate<HttpHead> requests, HttpAnswer answer) implements FaultRule {}

    /** Takes one of the times, when one is left. */
    static boolean take(AtomicInteger times) {
        return times.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }
}
