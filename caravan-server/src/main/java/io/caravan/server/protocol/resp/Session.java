package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WaitingTasks;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.channel.Channel;
import java.net.SocketAddress;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state of one RESP connection. Used on the event loop, and by the connection's reads on reading threads. Fields
 * that other connections read, for example for {@code CLIENT LIST}, are volatile.
 */
final class Session {
    private static final String UNKNOWN_USER = "NOAUTH Authentication required.";
    private static final Set<String> WHILE_LISTENING =
            Set.of("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT", "RESET");

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
    volatile Principal principal;

    /** Whether the client has chosen version 3 of the protocol with {@code HELLO}. */
    volatile boolean resp3;

    private @Nullable Transaction transaction;
    /** Whether the connection closes after the replies to all requests so far. */
    boolean quitting;

    private boolean ending;
    /** Whether the client has signaled that it will send no more data. */
    volatile boolean clientDone;

    private @Nullable Runnable onEnding;
    /** The work that waits for shared resources, such as reading threads, until the connection closes. */
    final WaitingTasks waiting = new WaitingTasks();

    final ReplyQueue replies;
    final ConnectionMemory memory;
    private final Channels channels;
    /** The subscriptions; null if the connection has never subscribed. */
    private @Nullable Subscriber subscriber;

    Session(long id, Channel channel, Authenticator authenticator, Channels channels, ReplyQueue replies) {
        this.id = id;
        this.channel = channel;
        this.remote = channel.remoteAddress();
        this.local = channel.localAddress();
        this.authenticator = authenticator;
        this.principal = unproved();
        this.replies = replies;
        this.memory = replies.memory;
        this.channels = channels;
    }

    private Principal unproved() {
        return authenticator.required() ? Principal.ANONYMOUS : Principal.ANYONE;
    }

    long ageSeconds() {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos);
    }

    /** Returns the error with which to reject the command, or null if the client may run it. */
    Reply.@Nullable Error reject(Command command) {
        CommandSpec spec = command.spec;
        if (spec == CommandSpec.UNKNOWN) {
            return principal == Principal.ANONYMOUS
                    ? new Reply.Error(UNKNOWN_USER)
                    : UnsupportedCommands.unknown(command);
        }
        if (!command.hasValidSize()) {
            return CommandException.wrongArity(spec.lowerName).reply();
        }
        if (onlyListens() && !WHILE_LISTENING.contains(spec.name)) {
            return new Reply.Error("ERR Can't execute '" + spec.lowerName
                    + "': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context; after HELLO 3,"
                    + " all commands are allowed");
        }
        return principal == Principal.ANYONE || spec.free ? null : rejectUser(command);
    }

    private Reply.@Nullable Error rejectUser(Command command) {
        if (stranger()) {
            return new Reply.Error(UNKNOWN_USER);
        }
        CommandSpec spec = command.spec;
        try {
            for (Permission permission : spec.permissions) {
                if (spec.keys == CommandSpec.Keys.NONE) {
                    require(permission, spec.lowerName);
                }
                for (byte[] document : spec.keys.of(command)) {
                    require(permission, DocumentName.of(document));
                }
            }
            return null;
        } catch (CommandException | IllegalArgumentException rejected) {
            return CommandException.reply(rejected);
        }
    }

    /** Throws a {@link CommandException} if the client's secret was revoked. Called before more data is sent. */
    void requireStillKnown() {
        if (principal.revoked()) {
            throw new CommandException(UNKNOWN_USER);
        }
    }

    /** Throws unless the client has a permission that is not specific to a document. */
    void require(Permission permission, String command) {
        if (!may(permission)) {
            throw new CommandException(
                    "NOPERM User " + principal.name() + " has no permissions to run the '" + command + "' command");
        }
    }

    void require(Permission permission, DocumentName document) {
        if (!may(permission, document)) {
            throw new CommandException("NOPERM No permissions to access a key: user " + principal.name() + " may not "
                    + permission.name().toLowerCase(Locale.ROOT) + " it");
        }
    }

    /** Throws unless the client has a permission on all documents that start with the beginning of a pattern. */
    void requireAll(Permission permission, Glob pattern) {
        if (!principal.mayAll(permission, pattern.beginning())) {
            throw new CommandException("NOPERM No permissions to access a channel: user " + principal.name()
                    + " may not "
                    + permission.name().toLowerCase(Locale.ROOT) + " all that the pattern can match; begin it with a"
                    + " prefix that the user has");
        }
    }

    boolean may(Permission permission) {
        return principal.may(permission);
    }

    boolean may(Permission permission, DocumentName document) {
        return principal.may(permission, document);
    }

    /** Returns the name of the user; empty if the client has not authenticated. */
    String user() {
        return principal == Principal.ANONYMOUS ? "" : principal.name();
    }

    /** Whether the client must authenticate, because it has not authenticated yet or its secret was revoked. */
    boolean stranger() {
        Principal known = principal;
        return known != Principal.ANYONE && (known == Principal.ANONYMOUS || known.revoked());
    }

    @Nullable
    Transaction transaction() {
        return transaction;
    }

    /** Begins a transaction, or ends the current one if the argument is null. */
    void transaction(@Nullable Transaction begun) {
        if (transaction != null) {
            transaction.release();
        }
        transaction = begun;
    }

    /** Whether the client has subscriptions, and cannot distinguish messages from replies, because it uses RESP 2. */
    boolean onlyListens() {
        return subscriber != null && subscriber.subscribed() && !resp3;
    }

    Subscriber subscriber() {
        if (subscriber == null) {
            subscriber = new Subscriber(channels, this);
        }
        return subscriber;
    }

    void reset() {
        name = "";
        library = "";
        libraryVersion = "";
        principal = unproved();
        resp3 = false;
        release();
    }

    void release() {
        transaction(null);
        if (subscriber != null) {
            subscriber.removeAll();
        }
    }

    /** Ends the waits of all requests, because the server is stopping or the connection is closed. */
    void end() {
        ending = true;
        if (onEnding != null) {
            onEnding.run();
        }
    }

    /** Ends the waits of all requests, because the client will send no more data. */
    void endOfInput() {
        clientDone = true;
        end();
    }

    /** Runs a task on a reading thread, unless the connection is closed first or the server is stopping. */
    void execute(Executor readers, Runnable task) {
        try {
            readers.execute(waiting.add(task));
        } catch (RejectedExecutionException stopping) {
            channel.close();
        }
    }

    /** Sets the action that ends the wait of a request. Runs the action immediately if waits have ended already. */
    void onEnding(@Nullable Runnable action) {
        onEnding = action;
        if (action != null && ending) {
            action.run();
        }
    }
}
