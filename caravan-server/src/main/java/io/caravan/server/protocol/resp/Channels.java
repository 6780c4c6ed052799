package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Sends published messages to the subscribers of channels and patterns. A message is sent to the clients that are
 * subscribed when it is published, and is not stored. Thread-safe.
 */
public final class Channels {
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

    private Map<Topic, Set<Subscriber>> subscribers(Topic topic) {
        return topic instanceof Topic.Named ? named : matching;
    }

    /**
     * Adds a subscriber that has not subscribed to this topic yet. Throws a {@link CommandException} if the
     * subscriptions of all clients would exceed the maximum number or the maximum total length of patterns.
     */
    void add(Topic topic, Subscriber subscriber) {
        count(subscriptions, 1, MAX_SUBSCRIPTIONS, "channels and patterns");
        boolean added = false;
        try {
            subscribers(topic).compute(topic, (same, others) -> {
                if (others == null) {
                    count(patternBytes, topic.patternBytes(), MAX_PATTERN_BYTES, "bytes of different patterns");
                }
                Set<Subscriber> all = others == null ? ConcurrentHashMap.newKeySet() : others;
                all.add(subscriber);
                return all;
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
    public int publish(DocumentName channel, byte[] message) {
        byte[] name = channel.toBytes();
        int receivers = send(new Topic.Named(channel), channel, Reply.Array.push("message", name, message));
        for (Topic topic : matching.keySet()) {
            if (topic instanceof Topic.Matching matches && matches.pattern().matches(name)) {
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

    public int subscriptions() {
        return subscriptions.get();
    }

    /** Returns the number of connections closed because their clients were too far behind in receiving messages. */
    public long closed() {
        return closed.sum();
    }
}
