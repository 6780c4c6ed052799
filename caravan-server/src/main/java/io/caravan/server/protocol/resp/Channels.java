package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.security.Permission;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Sends published messages to the subscribers of channels and patterns. A message is sent to the clients that are
 * subscribed when it is published, and is not stored. Thread-safe.
 */
final class Channels {
    /** Maximum total number of subscriptions of all clients to channels and patterns. */
    static final int MAX_SUBSCRIPTIONS = 262_144;
    /**
     * Maximum total length of all distinct patterns, in bytes. The limit bounds the time in which a reading thread
     * matches the channel of a message against all patterns.
     */
    static final int MAX_PATTERN_BYTES = 16 * 1024;

    private final Map<Topic, Set<Subscriber>> named = new ConcurrentHashMap<>();
    private final Map<Topic, Set<Subscriber>> matching = new ConcurrentHashMap<>();
    private final AtomicInteger subscriptions = new AtomicInteger();
    private final AtomicInteger patternBytes = new AtomicInteger();
    private final LongAdder closed = new LongAdder();

    /** The target of a subscription: a channel, which has a name, or all channels that match a pattern. */
    record Topic(@Nullable DocumentName name, @Nullable Glob pattern) {
        static Topic of(byte[] word, boolean isPattern) {
            return isPattern ? new Topic(null, new Glob(word)) : new Topic(DocumentName.of(word), null);
        }

        boolean isPattern() {
            return pattern != null;
        }

        byte[] toBytes() {
            return pattern == null ? Objects.requireNonNull(name).toBytes() : pattern.toBytes();
        }

        int patternBytes() {
            return pattern == null ? 0 : pattern.length();
        }

        long heldBytes() {
            return isPattern() ? 4 * 1024 : 448 + toBytes().length;
        }

        void requireReadable(Session session) {
            if (pattern == null) {
                session.require(Permission.READ, Objects.requireNonNull(name));
            } else {
                session.requireAll(Permission.READ, pattern);
            }
        }
    }

    private Map<Topic, Set<Subscriber>> subscribers(Topic topic) {
        return topic.isPattern() ? matching : named;
    }

    /**
     * Adds a subscriber that has not subscribed to this topic yet. Throws if the subscriptions of all clients would
     * exceed the maximum number or the maximum total length of patterns.
     */
    void add(Topic topic, Subscriber subscriber) {
        count(subscriptions, 1, MAX_SUBSCRIPTIONS, "channels and patterns");
        try {
            subscribers(topic).compute(topic, (same, others) -> {
                if (others == null) {
                    count(patternBytes, topic.patternBytes(), MAX_PATTERN_BYTES, "bytes of different patterns");
                }
                Set<Subscriber> all = others == null ? ConcurrentHashMap.newKeySet() : others;
                all.add(subscriber);
                return all;
            });
        } catch (CommandException rejected) {
            subscriptions.decrementAndGet();
            throw rejected;
        }
    }

    private static void count(AtomicInteger counted, int more, int most, String what) {
        if (counted.addAndGet(more) > most) {
            counted.addAndGet(-more);
            throw new CommandException("ERR all clients together have subscribed to " + most + " " + what
                    + ", which is the limit; remove some with UNSUBSCRIBE or PUNSUBSCRIBE");
        }
    }

    void remove(Topic topic, Subscriber subscriber) {
        subscriptions.decrementAndGet();
        subscribers(topic).computeIfPresent(topic, (same, all) -> {
            all.remove(subscriber);
            if (!all.isEmpty()) {
                return all;
            }
            patternBytes.addAndGet(-topic.patternBytes());
            return null;
        });
    }

    /**
     * Sends a message to the subscribers of a channel, once for each matching subscription. Returns the number of
     * messages sent.
     */
    int publish(DocumentName channel, byte[] message) {
        byte[] name = channel.toBytes();
        int receivers = send(new Topic(channel, null), channel, Reply.Array.push("message", name, message));
        for (Topic topic : matching.keySet()) {
            if (Objects.requireNonNull(topic.pattern()).matches(name)) {
                receivers += send(topic, channel, Reply.Array.push("pmessage", topic.toBytes(), name, message));
            }
        }
        return receivers;
    }

    private int send(Topic topic, DocumentName channel, Reply message) {
        int receivers = 0;
        for (Subscriber subscriber : subscribers(topic).getOrDefault(topic, Set.of())) {
            if (subscriber.send(topic, channel, message)) {
                receivers++;
            } else if (subscriber.closeBehind()) {
                closed.increment();
            }
        }
        return receivers;
    }

    int subscriptions() {
        return subscriptions.get();
    }

    /** Returns the number of connections closed because their clients were too far behind in receiving messages. */
    long closed() {
        return closed.sum();
    }
}
