package io.caravan.server.protocol.resp.dispatch;

import io.caravan.catalog.DocumentName;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.reply.ReplyQueue;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels and patterns to which one connection has subscribed, and the delivery of their messages. A message
 * follows the replies to earlier requests, and is counted in the memory for replies as soon as it is published. Used on
 * the event loop, except for {@link #tell} and {@link #closeBehind}.
 */
public final class Subscriber {
    private static final Logger LOG = LoggerFactory.getLogger(Subscriber.class);

    /** Maximum bytes of messages and replies that the client has not received. A burst of messages must fit. */
    static final long MAX_BEHIND_BYTES = 32 * 1024 * 1024;

    /** Maximum number of patterns of a connection. */
    static final int MAX_PATTERNS = 128;
    /** Maximum total length of a connection's patterns, which is a fraction of the maximum for all connections. */
    static final int MAX_PATTERNS_BYTES = Channels.MAX_PATTERN_BYTES / 4;
    /** Approximate memory of a channel subscription, in addition to the channel's name. */
    private static final int CHANNEL_BYTES = 448;
    /** Approximate memory of a pattern subscription. */
    private static final int PATTERN_BYTES = 4 * 1024;

    private final Channels channels;
    private final Channel channel;
    private final Session session;
    private final ReplyQueue replies;
    private final Set<DocumentName> names = new LinkedHashSet<>();
    private final Set<Glob> patterns = new LinkedHashSet<>();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** Creates a subscriber without subscriptions. */
    public Subscriber(Channels channels, Channel channel, Session session, ReplyQueue replies) {
        this.channels = channels;
        this.channel = channel;
        this.session = session;
        this.replies = replies;
    }

    /**
     * Subscribes to a channel. Returns false if the connection is subscribed already.
     *
     * @throws CommandException if the user lacks the permission, or a limit is reached
     */
    public boolean add(DocumentName name) {
        CommandGate.require(session.principal(), Permission.READ, name);
        if (names.contains(name)) {
            return false;
        }
        take(bytes(name));
        try {
            channels.add(name, this);
        } catch (CommandException refused) {
            memory().giveWait(bytes(name));
            throw refused;
        }
        return names.add(name);
    }

    /**
     * Subscribes to all channels that match a pattern. Returns false if the connection is subscribed already.
     *
     * @throws CommandException if the user may not read all channels that the pattern can match, or a limit is reached
     */
    public boolean add(Glob pattern) {
        CommandGate.requireAll(session.principal(), Permission.READ, pattern);
        if (patterns.contains(pattern)) {
            return false;
        }
        if (patterns.size() >= MAX_PATTERNS) {
            throw new CommandException(
                    "ERR a connection listens to at most " + MAX_PATTERNS + " patterns; leave some by PUNSUBSCRIBE");
        }
        int patternBytes =
                pattern.length() + patterns.stream().mapToInt(Glob::length).sum();
        if (patternBytes > MAX_PATTERNS_BYTES) {
            throw new CommandException("ERR the patterns that a connection listens to have at most "
                    + MAX_PATTERNS_BYTES + " bytes together; leave some by PUNSUBSCRIBE");
        }
        take(PATTERN_BYTES);
        try {
            channels.add(pattern, this);
        } catch (CommandException refused) {
            memory().giveWait(PATTERN_BYTES);
            throw refused;
        }
        return patterns.add(pattern);
    }

    ConnectionMemory memory() {
        return replies.memory();
    }

    private void take(long bytes) {
        if (!memory().takeWait(bytes)) {
            throw new CommandException("ERR this connection, or all of them, listen to as much as the server has memory"
                    + " for; leave some by UNSUBSCRIBE or PUNSUBSCRIBE");
        }
    }

    private static long bytes(DocumentName name) {
        return CHANNEL_BYTES + name.toBytes().length;
    }

    public void remove(DocumentName name) {
        if (names.remove(name)) {
            memory().giveWait(bytes(name));
            channels.remove(name, this);
        }
    }

    public void remove(Glob pattern) {
        if (patterns.remove(pattern)) {
            memory().giveWait(PATTERN_BYTES);
            channels.remove(pattern, this);
        }
    }

    /** Unsubscribes from everything. */
    public void removeAll() {
        names().forEach(this::remove);
        patterns().forEach(this::remove);
    }

    /** Returns the channels, in the order in which they were added. */
    public Collection<DocumentName> names() {
        return List.copyOf(names);
    }

    /** Returns the patterns, in the order in which they were added. */
    public Collection<Glob> patterns() {
        return List.copyOf(patterns);
    }

    /** Returns the number of channels and patterns. */
    public int count() {
        return names.size() + patterns.size();
    }

    /**
     * Sends a message. Returns false if the client is too far behind.
     *
     * @param pattern the pattern that matches the channel, or null if the subscription is by name
     */
    boolean tell(DocumentName name, @Nullable Glob pattern, Reply message) {
        long bytes = message.heldBytes();
        if (memory().replyBytes() + bytes > MAX_BEHIND_BYTES || !memory().mayAnswer(bytes)) {
            return false;
        }
        memory().holdPush(bytes);
        channel.eventLoop().execute(() -> {
            memory().holdPush(-bytes);
            pass(name, pattern, message);
        });
        return true;
    }

    /**
     * Delivers a message if the subscription still exists. Closes the connection if the user has lost the permission.
     */
    private void pass(DocumentName name, @Nullable Glob pattern, Reply message) {
        boolean listens = pattern == null ? names.contains(name) : patterns.contains(pattern);
        if (!listens || session.quitting()) {
            return;
        }
        Principal principal = session.principal();
        if (principal == null || !principal.may(Permission.READ, name)) {
            channel.close();
        } else {
            replies.push(session.protocol(), message);
        }
    }

    /** Closes the connection because the client is too far behind. Returns false if it was closed before. */
    boolean closeBehind() {
        if (!closing.compareAndSet(false, true)) {
            return false;
        }
        LOG.warn(
                "closing {}: it has not taken {} bytes of messages, or too much of all answers together",
                channel.remoteAddress(),
                memory().replyBytes());
        channel.close();
        return true;
    }
}
