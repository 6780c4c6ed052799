package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Who listens to which channel. A message goes to those who listen when it is published, is kept for nobody, and is not
 * durable. Thread-safe.
 */
public final class Channels {
    /** Channels that all clients together may listen to, one that several listen to counted for each of them. */
    static final int MAX_SUBSCRIPTIONS = 262_144;

    private final Map<DocumentName, Set<Subscriber>> listeners = new ConcurrentHashMap<>();
    private final AtomicInteger subscriptions = new AtomicInteger();
    private final LongAdder closed = new LongAdder();

    /**
     * Adds somebody who does not listen to this channel yet.
     *
     * @throws CommandException when all clients together listen to as many as they may
     */
    void add(DocumentName channel, Subscriber subscriber) {
        if (subscriptions.incrementAndGet() > MAX_SUBSCRIPTIONS) {
            subscriptions.decrementAndGet();
            throw new CommandException("ERR all clients together listen to " + MAX_SUBSCRIPTIONS
                    + " channels, which is the limit; leave some by UNSUBSCRIBE");
        }
        listeners.compute(channel, (name, others) -> {
            Set<Subscriber> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(subscriber);
            return all;
        });
    }

    /** Removes somebody who listens to this channel. */
    void remove(DocumentName channel, Subscriber subscriber) {
        subscriptions.decrementAndGet();
        listeners.computeIfPresent(channel, (name, others) -> {
            others.remove(subscriber);
            return others.isEmpty() ? null : others;
        });
    }

    /** Sends a message to those who listen, and returns how many they are. */
    public int publish(DocumentName channel, byte[] message) {
        Reply push = Reply.Push.of("message", channel.toBytes(), message);
        int receivers = 0;
        for (Subscriber subscriber : listeners.getOrDefault(channel, Set.of())) {
            if (subscriber.tell(channel, push)) {
                receivers++;
            } else if (subscriber.closeBehind()) {
                closed.increment();
            }
        }
        return receivers;
    }

    /** Channels that clients listen to, as {@link #MAX_SUBSCRIPTIONS} counts them. */
    public int subscriptions() {
        return subscriptions.get();
    }

    /** Connections closed because they were too far behind. */
    public long closed() {
        return closed.sum();
    }
}
