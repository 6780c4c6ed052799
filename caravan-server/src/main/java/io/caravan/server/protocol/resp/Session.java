package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WaitingTasks;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.RespVersion;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import java.net.SocketAddress;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state of one RESP connection. Used on the event loop, and by the connection's reads on reading threads. Fields
 * that other connections read, for example for {@code CLIENT LIST}, are volatile.
 */
public final class Session {
    static final String UNKNOWN_USER = "NOAUTH Authentication required.";

    final long id;
    private final long startedNanos = System.nanoTime();
    final Channel channel;
    final SocketAddress remote;
    final SocketAddress local;
    final Authenticator authenticator;
    /** The number of requests that have started. Only the event loop updates it. */
    volatile long commands;

    volatile String name = "";
    volatile String library = "";
    volatile String libraryVersion = "";
    /** The client's principal; null if the client has not authenticated. */
    volatile @Nullable Principal principal;

    volatile RespVersion protocol = RespVersion.RESP2;
    private @Nullable Transaction transaction;
    /** Whether the connection closes after the replies to all requests so far. */
    boolean quitting;

    private boolean ending;
    /** Whether the client has signaled that it will send no more data. */
    volatile boolean clientDone;

    private @Nullable Runnable onEnding;
    /** The work that waits for shared resources, such as reading threads, until the connection closes. */
    final WaitingTasks waiting = new WaitingTasks();

    final ConnectionMemory memory;
    final Subscriber subscriptions;

    /** Creates the state of a new connection. Messages of its subscriptions are passed to {@code replies}. */
    Session(long id, Channel channel, Authenticator authenticator, Channels channels, ReplyQueue replies) {
        this.id = id;
        this.channel = channel;
        this.remote = channel.remoteAddress();
        this.local = channel.localAddress();
        this.authenticator = authenticator;
        this.principal = unproved();
        this.memory = replies.memory();
        this.subscriptions = new Subscriber(channels, this, replies);
    }

    private @Nullable Principal unproved() {
        return authenticator.required() ? null : Principal.ANYONE;
    }

    long ageSeconds() {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos);
    }

    /** Throws a {@link CommandException} if the client's secret was revoked. Called before more data is sent. */
    void requireStillKnown() {
        Principal known = principal;
        if (known != null && known.revoked()) {
            throw new CommandException(UNKNOWN_USER);
        }
    }

    /** Throws a {@link CommandException} unless the client has a permission that is not specific to a document. */
    void require(Permission permission, String command) {
        if (!may(permission)) {
            throw new CommandException(
                    "NOPERM User " + user("?") + " has no permissions to run the '" + command + "' command");
        }
    }

    /** Throws a {@link CommandException} unless the client has a permission on a document. */
    void require(Permission permission, DocumentName document) {
        if (!may(permission, document)) {
            throw new CommandException("NOPERM No permissions to access a key: user " + user("?") + " may not "
                    + permission.name().toLowerCase(Locale.ROOT) + " it");
        }
    }

    /**
     * Throws a {@link CommandException} unless the client has a permission on all documents whose names start with the
     * fixed beginning of a pattern.
     */
    void requireAll(Permission permission, Glob pattern) {
        Principal known = principal;
        if (known == null || !known.mayAll(permission, pattern.beginning())) {
            throw new CommandException("NOPERM No permissions to access a channel: user " + user("?") + " may not "
                    + permission.name().toLowerCase(Locale.ROOT) + " all that the pattern can match; begin it with a"
                    + " prefix that the user has");
        }
    }

    boolean may(Permission permission) {
        Principal known = principal;
        return known != null && known.may(permission);
    }

    boolean may(Permission permission, DocumentName document) {
        Principal known = principal;
        return known != null && known.may(permission, document);
    }

    /** Returns the name of the connection's user, or {@code otherwise} if it is unknown. */
    String user(String otherwise) {
        Principal known = principal;
        return known == null ? otherwise : known.name();
    }

    /** Whether the client must authenticate, because it has not authenticated yet or its secret was revoked. */
    public boolean stranger() {
        Principal known = principal;
        return known == null || known.revoked();
    }

    /** Returns the transaction in which commands are queued, or null if there is none. */
    public @Nullable Transaction transaction() {
        return transaction;
    }

    /** Begins a transaction, or ends the current one if the argument is null. */
    public void transaction(@Nullable Transaction begun) {
        if (transaction != null) {
            transaction.release();
        }
        transaction = begun;
    }

    /**
     * Whether the connection has subscriptions and uses RESP 2, in which a client cannot distinguish messages from
     * replies.
     */
    public boolean onlyListens() {
        return protocol == RespVersion.RESP2 && subscriptions.count() > 0;
    }

    public void reset() {
        name = "";
        library = "";
        libraryVersion = "";
        principal = unproved();
        protocol = RespVersion.RESP2;
        transaction(null);
        subscriptions.removeAll();
    }

    /**
     * Ends the waits of all requests, because the server is stopping or the connection is closed. Called on the event
     * loop.
     */
    public void end() {
        ending = true;
        if (onEnding != null) {
            onEnding.run();
        }
    }

    /** Ends the waits of all requests, because the client will send no more data. Called on the event loop. */
    public void endOfInput() {
        clientDone = true;
        end();
    }

    /**
     * Sets the action that ends the wait of a request. Runs the action immediately if waits have ended already. The
     * action replaces any earlier action.
     */
    public void onEnding(@Nullable Runnable action) {
        onEnding = action;
        if (action != null && ending) {
            action.run();
        }
    }
}
