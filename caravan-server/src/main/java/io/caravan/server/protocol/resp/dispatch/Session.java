package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.net.WaitBudget;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Principal;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One connection and its client. Used on the event loop, and by the connection's reads while they run; what other
 * connections see through {@link ClientRegistry} is volatile.
 */
public final class Session {
    private final long id;
    private final long startedNanos = System.nanoTime();
    private final SocketAddress remote;
    private final SocketAddress local;
    private final Authenticator authenticator;
    private final AtomicLong commands = new AtomicLong();
    private volatile String name = "";
    private volatile String library = "";
    private volatile String libraryVersion = "";
    private volatile @Nullable Principal principal;
    private volatile Protocol protocol = Protocol.RESP2;
    private @Nullable Transaction transaction;
    private boolean quitting;
    private volatile boolean ending;
    private volatile boolean clientDone;
    private @Nullable Runnable onEnding;
    private @Nullable Subscriber subscriber;

    public Session(long id, SocketAddress remote, SocketAddress local, Authenticator authenticator) {
        this.id = id;
        this.remote = remote;
        this.local = local;
        this.authenticator = authenticator;
        this.principal = unproved();
    }

    private @Nullable Principal unproved() {
        return authenticator.required() ? null : Principal.ANYONE;
    }

    /** The connection's unique number. */
    public long id() {
        return id;
    }

    public Authenticator authenticator() {
        return authenticator;
    }

    public SocketAddress remote() {
        return remote;
    }

    public SocketAddress local() {
        return local;
    }

    public long ageNanos() {
        return System.nanoTime() - startedNanos;
    }

    /** Commands that have come, for which the client has or will have an answer. */
    public long commands() {
        return commands.get();
    }

    public void countCommand() {
        commands.incrementAndGet();
    }

    public String name() {
        return name;
    }

    public void name(String newName) {
        name = newName;
    }

    public String library() {
        return library;
    }

    public void library(String newLibrary) {
        library = newLibrary;
    }

    public String libraryVersion() {
        return libraryVersion;
    }

    public void libraryVersion(String newVersion) {
        libraryVersion = newVersion;
    }

    /** Who the client has proved to be, or null when it has not. */
    public @Nullable Principal principal() {
        return principal;
    }

    public void principal(Principal proved) {
        principal = proved;
    }

    /** Whether the client must authenticate, and has not. */
    public boolean stranger() {
        Principal known = principal;
        return known == null || known.revoked();
    }

    public Protocol protocol() {
        return protocol;
    }

    public void protocol(Protocol version) {
        protocol = version;
    }

    /** The transaction that commands become part of, or null when they run by themselves. */
    public @Nullable Transaction transaction() {
        return transaction;
    }

    /** Begins a transaction, or, with null, ends the one that was begun. */
    public void transaction(@Nullable Transaction begun) {
        if (transaction != null) {
            transaction.release();
        }
        transaction = begun;
    }

    /** Sets what messages go to, when the connection begins. */
    public void subscriber(Subscriber listening) {
        subscriber = listening;
    }

    /** What the connection listens to. */
    public Subscriber subscriptions() {
        return Objects.requireNonNull(subscriber, "a connection has a subscriber");
    }

    /** The connection's share of the memory for what clients wait for. */
    public WaitBudget.Share waits() {
        return subscriptions().waits();
    }

    /** Whether it listens, and speaks the version in which an answer cannot be told from a message. */
    public boolean onlyListens() {
        return protocol == Protocol.RESP2 && subscriber != null && subscriber.count() > 0;
    }

    /** Makes the session what it was when the connection began. */
    public void reset() {
        name = "";
        library = "";
        libraryVersion = "";
        principal = unproved();
        protocol = Protocol.RESP2;
        transaction(null);
        if (subscriber != null) {
            subscriber.removeAll();
        }
    }

    /** Whether the connection ends after the answers to all that came so far. */
    public boolean quitting() {
        return quitting;
    }

    public void quit() {
        quitting = true;
    }

    /** Whether nothing may wait any longer: the client sends no more, or the server stops. */
    boolean ending() {
        return ending;
    }

    /** Ends the connection's waits; on the event loop. */
    public void end() {
        ending = true;
        if (onEnding != null) {
            onEnding.run();
        }
    }

    /** Ends the connection's waits because the client sends no more; on the event loop. */
    public void endOfInput() {
        clientDone = true;
        end();
    }

    /** Whether the client has said that it sends no more. */
    public boolean clientDone() {
        return clientDone;
    }

    /** Sets the action to run when the connection ends, or now if it does already. Replaces an earlier one. */
    public void onEnding(@Nullable Runnable action) {
        onEnding = action;
        if (action != null && ending) {
            action.run();
        }
    }
}
