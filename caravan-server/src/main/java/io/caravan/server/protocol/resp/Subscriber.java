package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.pubsub;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.Channels.Topic;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The publish/subscribe commands, and the channels and patterns to which one connection has subscribed. A channel has a
 * name like a document, and requires the same permissions.
 *
 * <p>A message is delivered after the replies to earlier requests, and counts toward the memory for replies as soon as
 * it is published. Used on the event loop, except for {@link #send} and {@link #closeBehind}.
 */
final class Subscriber {
    private static final Logger LOG = LoggerFactory.getLogger(Subscriber.class);

    /**
     * Maximum number of bytes of messages and replies that the client has not received. Large enough for a burst of
     * messages.
     */
    static final long MAX_BEHIND_BYTES = 32 * 1024 * 1024;

    static final int MAX_PATTERNS = 128;
    /** Maximum total length of a connection's patterns, which is a fraction of the maximum for all connections. */
    static final int MAX_PATTERNS_BYTES = Channels.MAX_PATTERN_BYTES / 4;

    private final Channels channels;
    private final Session session;
    /** The subscriptions, in the order in which they were added. */
    private final Set<Topic> topics = new LinkedHashSet<>();

    private final AtomicBoolean closing = new AtomicBoolean();

    Subscriber(Channels channels, Session session) {
        this.channels = channels;
        this.session = session;
    }

    static List<CommandSpec> commands(Channels channels) {
        return List.of(
                pubsub("SUBSCRIBE", -2, "Subscribes to channels.")
                        .needs(Permission.READ)
                        .immediate((session, command) -> session.subscriber().subscribe(command, false)),
                pubsub("UNSUBSCRIBE", -1, "Unsubscribes from channels, or from all of them.")
                        .immediate((session, command) -> session.subscriber().unsubscribe(command, false)),
                pubsub("PSUBSCRIBE", -2, "Subscribes to all channels that match patterns.")
                        .needs(Permission.READ)
                        .immediate((session, command) -> session.subscriber().subscribe(command, true)),
                pubsub("PUNSUBSCRIBE", -1, "Unsubscribes from patterns, or from all of them.")
                        .immediate((session, command) -> session.subscriber().unsubscribe(command, true)),
                pubsub("PUBLISH", 3, "Sends a message to the subscribers of a channel.")
                        .needs(Permission.WRITE)
                        // On an event loop, matching the channel against all patterns would delay other clients.
                        .waiting((session, command) -> {
                            session.require(Permission.WRITE, command.name());
                            return new Reply.Number(channels.publish(command.name(), command.word(2)));
                        }));
    }

    /** Subscribes to all topics that the command names, or to none. */
    private Reply subscribe(Command command, boolean patterns) {
        List<Reply> replies = new ArrayList<>();
        List<Topic> added = new ArrayList<>();
        try {
            for (Topic topic : topics(command, patterns)) {
                if (add(topic)) {
                    added.add(topic);
                }
                replies.add(confirmation("subscribe", topic.toBytes(), patterns));
            }
        } catch (RuntimeException rejected) {
            added.forEach(this::remove);
            throw rejected;
        }
        return Reply.Array.sequence(replies);
    }

    private Reply unsubscribe(Command command, boolean patterns) {
        List<Topic> named = command.size() == 1
                ? topics.stream().filter(topic -> topic.isPattern() == patterns).toList()
                : topics(command, patterns);
        if (named.isEmpty()) {
            return confirmation("unsubscribe", null, patterns);
        }
        List<Reply> replies = new ArrayList<>();
        for (Topic topic : named) {
            remove(topic);
            replies.add(confirmation("unsubscribe", topic.toBytes(), patterns));
        }
        return Reply.Array.sequence(replies);
    }

    private Reply confirmation(String what, byte @Nullable [] topic, boolean patterns) {
        return Reply.Array.push(patterns ? "p" + what : what, topic, topics.size());
    }

    private static List<Topic> topics(Command command, boolean patterns) {
        command.requireFewNames(command.size() - 1, "channels");
        return command.wordsFrom(1).stream()
                .map(word -> Topic.of(word, patterns))
                .toList();
    }

    /** Returns false if the connection is subscribed already. Throws if the user may not read the topic. */
    private boolean add(Topic topic) {
        topic.requireReadable(session);
        if (topics.contains(topic)) {
            return false;
        }
        if (topic.isPattern()) {
            checkPatterns(topic.patternBytes());
        }
        if (!session.memory.reserveWait(topic.heldBytes())) {
            throw new CommandException("ERR the memory for subscriptions is used up, by this connection or by all"
                    + " connections; remove some with UNSUBSCRIBE or PUNSUBSCRIBE");
        }
        try {
            channels.add(topic, this);
        } catch (CommandException rejected) {
            session.memory.releaseWait(topic.heldBytes());
            throw rejected;
        }
        return topics.add(topic);
    }

    private void checkPatterns(int addedBytes) {
        if (topics.stream().filter(Topic::isPattern).count() >= MAX_PATTERNS) {
            throw new CommandException("ERR a connection subscribes to at most " + MAX_PATTERNS
                    + " patterns; remove some with PUNSUBSCRIBE");
        }
        if (addedBytes + topics.stream().mapToInt(Topic::patternBytes).sum() > MAX_PATTERNS_BYTES) {
            throw new CommandException("ERR the patterns of a connection have at most " + MAX_PATTERNS_BYTES
                    + " bytes together; remove some with PUNSUBSCRIBE");
        }
    }

    private void remove(Topic topic) {
        if (topics.remove(topic)) {
            session.memory.releaseWait(topic.heldBytes());
            channels.remove(topic, this);
        }
    }

    void removeAll() {
        List.copyOf(topics).forEach(this::remove);
    }

    boolean subscribed() {
        return !topics.isEmpty();
    }

    /**
     * Sends a message that was published to the channel {@code name}. Returns false if the client is too far behind.
     */
    boolean send(Topic topic, DocumentName name, Reply message) {
        long bytes = message.heldBytes();
        if (session.memory.replyBytes() + bytes > MAX_BEHIND_BYTES || !session.memory.mayReply(bytes)) {
            return false;
        }
        session.memory.holdPush(bytes);
        session.channel.eventLoop().execute(() -> {
            session.memory.holdPush(-bytes);
            deliver(topic, name, message);
        });
        return true;
    }

    /**
     * Delivers a message if the subscription still exists. Closes the connection if the user has lost the permission.
     */
    private void deliver(Topic topic, DocumentName name, Reply message) {
        if (!topics.contains(topic) || session.quitting) {
            return;
        }
        if (!session.may(Permission.READ, name)) {
            session.channel.close();
        } else {
            session.replies.push(session, message);
        }
    }

    /**
     * Closes the connection because the client is too far behind. Returns false if the connection was already closed
     * for this reason.
     */
    boolean closeBehind() {
        if (!closing.compareAndSet(false, true)) {
            return false;
        }
        LOG.warn(
                "closing {}: its client has not received {} bytes of messages, or all replies together are at their limit",
                session.channel.remoteAddress(),
                session.memory.replyBytes());
        session.channel.close();
        return true;
    }
}
