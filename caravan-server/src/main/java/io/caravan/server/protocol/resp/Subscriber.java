package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.security.Permission;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the channels and patterns to which one connection has subscribed, and delivers their messages. A message is
 * delivered after the replies to earlier requests, and counts toward the memory for replies as soon as it is published.
 * Used on the event loop, except for {@link #send} and {@link #closeBehind}.
 */
public final class Subscriber {
    private static final Logger LOG = LoggerFactory.getLogger(Subscriber.class);

    /**
     * Maximum number of bytes of messages and replies that the client has not received. Large enough for a burst of
     * messages.
     */
    static final long MAX_BEHIND_BYTES = 32 * 1024 * 1024;

    /** Maximum number of patterns per connection. */
    static final int MAX_PATTERNS = 128;
    /** Maximum total length of a connection's patterns, which is a fraction of the maximum for all connections. */
    static final int MAX_PATTERNS_BYTES = Channels.MAX_PATTERN_BYTES / 4;

    private final Channels channels;
    private final Session session;
    private final ReplyQueue replies;
    private final Set<Topic> names = new LinkedHashSet<>();
    private final Set<Topic> patterns = new LinkedHashSet<>();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** Creates a subscriber without subscriptions. */
    public Subscriber(Channels channels, Session session, ReplyQueue replies) {
        this.channels = channels;
        this.session = session;
        this.replies = replies;
    }

    /**
     * Subscribes to a topic. Returns false if the connection is subscribed already. Throws a {@link CommandException}
     * if the user may not read the topic, or a limit is reached.
     */
    public boolean add(Topic topic) {
        topic.requireReadable(session);
        if (set(topic.getClass()).contains(topic)) {
            return false;
        }
        if (topic instanceof Topic.Matching) {
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
        return set(topic.getClass()).add(topic);
    }

    private Set<Topic> set(Class<? extends Topic> kind) {
        return kind == Topic.Matching.class ? patterns : names;
    }

    private void checkPatterns(int addedBytes) {
        if (patterns.size() >= MAX_PATTERNS) {
            throw new CommandException("ERR a connection subscribes to at most " + MAX_PATTERNS
                    + " patterns; remove some with PUNSUBSCRIBE");
        }
        if (addedBytes + patterns.stream().mapToInt(Topic::patternBytes).sum() > MAX_PATTERNS_BYTES) {
            throw new CommandException("ERR the patterns of a connection have at most " + MAX_PATTERNS_BYTES
                    + " bytes together; remove some with PUNSUBSCRIBE");
        }
    }

    public void remove(Topic topic) {
        if (set(topic.getClass()).remove(topic)) {
            session.memory.releaseWait(topic.heldBytes());
            channels.remove(topic, this);
        }
    }

    /** Removes all subscriptions. */
    public void removeAll() {
        topics(Topic.Named.class).forEach(this::remove);
        topics(Topic.Matching.class).forEach(this::remove);
    }

    /** Returns the subscribed topics of a kind, in the order in which they were added. */
    public List<Topic> topics(Class<? extends Topic> kind) {
        return List.copyOf(set(kind));
    }

    /** Returns the number of subscribed channels and patterns. */
    public int count() {
        return names.size() + patterns.size();
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
        if (!set(topic.getClass()).contains(topic) || session.quitting) {
            return;
        }
        if (!session.may(Permission.READ, name)) {
            session.channel.close();
        } else {
            replies.push(session.protocol, message);
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
