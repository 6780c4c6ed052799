package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The subscribers of channels and patterns. A message is sent to the clients that are subscribed when it is published,
 * and is not stored. Thread-safe.
 */
public final class Channels {
    /** Maximum number of subscriptions to channels and patterns, of all clients together. */
    static final int MAX_SUBSCRIPTIONS = 262_144;
    /**
     * Maximum total length of all different patterns, in bytes. Limits the time for which a reading thread matches the
     * channel of a message against all patterns.
     */
    static final int MAX_PATTERN_BYTES = 16 * 1024;

    private final Map<DocumentName, Set<Subscriber>> listeners = new ConcurrentHashMap<>();
    private final Map<Glob, Set<Subscriber>> patternListeners = new ConcurrentHashMap<>();
    private final AtomicInteger subscriptions = new AtomicInteger();
    private final AtomicInteger patternBytes = new AtomicInteger();
    private final LongAdder closed = new LongAdder();

    /**
     * Adds a subscriber that has not subscribed to this channel yet.
     *
     * @throws CommandException if all clients together have the maximum number of subscriptions
     */
    void add(DocumentName channel, Subscriber subscriber) {
        count(subscriptions, 1, MAX_SUBSCRIPTIONS, "channels and patterns");
        listeners.compute(channel, (name, others) -> with(others, subscriber));
    }

    /**
     * Adds a subscriber that has not subscribed to this pattern yet.
     *
     * @throws CommandException if all clients together have the maximum number of subscriptions, or the maximum length
     *     of patterns
     */
    void add(Glob pattern, Subscriber subscriber) {
        count(subscriptions, 1, MAX_SUBSCRIPTIONS, "channels and patterns");
        boolean added = false;
        try {
            patternListeners.compute(pattern, (same, others) -> {
                if (others == null) {
                    count(patternBytes, pattern.length(), MAX_PATTERN_BYTES, "bytes of different patterns");
                }
                return with(others, subscriber);
            });
            added = true;
        } finally {
            if (!added) {
                subscriptions.decrementAndGet();
            }
        }
    }

    private static void count(AtomicInteger counted, int more, int most, String what) {
        if (counted.addAndGet(more) > most) {
            counted.addAndGet(-more);
            throw new CommandException("ERR all clients together listen to " + most + " " + what
                    + ", which is the limit; leave some by UNSUBSCRIBE or PUNSUBSCRIBE");
        }
    }

    private static Set<Subscriber> with(@Nullable Set<Subscriber> others, Subscriber subscriber) {
        Set<Subscriber> all = others == null ? ConcurrentHashMap.newKeySet() : others;
        all.add(subscriber);
        return all;
    }

    private static @Nullable Set<Subscriber> without(Set<Subscriber> all, Subscriber subscriber) {
        all.remove(subscriber);
        return all.isEmpty() ? null : all;
    }

    void remove(DocumentName channel, Subscriber subscriber) {
        subscriptions.decrementAndGet();
        listeners.computeIfPresent(channel, (name, all) -> without(all, subscriber));
    }

    void remove(Glob pattern, Subscriber subscriber) {
        subscriptions.decrementAndGet();
        patternListeners.computeIfPresent(pattern, (same, all) -> {
            Set<Subscriber> left = without(all, subscriber);
            if (left == null) {
                patternBytes.addAndGet(-pattern.length());
            }
            return left;
        });
    }

    /** Sends a message to its subscribers, once for each matching subscription. Returns the number of messages sent. */
    public int publish(DocumentName channel, byte[] message) {
        byte[] name = channel.toBytes();
        Set<Subscriber> byName = listeners.getOrDefault(channel, Set.of());
        int receivers = tell(byName, channel, null, Reply.Push.of("message", name, message));
        for (Map.Entry<Glob, Set<Subscriber>> each : patternListeners.entrySet()) {
            Glob pattern = each.getKey();
            if (pattern.matches(name)) {
                Reply push = Reply.Push.of("pmessage", pattern.toBytes(), name, message);
                receivers += tell(each.getValue(), channel, pattern, push);
            }
        }
        return receivers;
    }

    private int tell(Set<Subscriber> subscribers, DocumentName channel, @Nullable Glob pattern, Reply push) {
        int receivers = 0;
        for (Subscriber subscriber : subscribers) {
            if (subscriber.tell(channel, pattern, push)) {
                receivers++;
            } else if (subscriber.closeBehind()) {
                closed.increment();
            }
        }
        return receivers;
    }

    /** Returns the number of subscriptions of all clients together. */
    public int subscriptions() {
        return subscriptions.get();
    }

    /** Returns the number of connections closed because their clients were too far behind. */
    public long closed() {
        return closed.sum();
    }
}
