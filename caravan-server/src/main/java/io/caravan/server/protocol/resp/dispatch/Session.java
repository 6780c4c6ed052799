package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Principal;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one connection and who is behind it. The event loop's, and the connection's reads' while they run;
 * what {@link ClientRegistry} tells of it to others is volatile.
 */
public final class Session {
    private final long id;
    private final long startedNanos = System.nanoTime();
    private final SocketAddress remote;
    private final SocketAddress local;
    private final Authenticator authenticator;
    private volatile Identity identity;
    private volatile Protocol protocol = Protocol.RESP2;
    private @Nullable Transaction transaction;
    private boolean quitting;
    private volatile boolean ending;
    private @Nullable Runnable onEnding;

    /** What a client has told of itself, and who it has proved to be; null when it has not. */
    public record Identity(
            String name,
            String library,
            String libraryVersion,
            @Nullable Principal principal) {}

    /**
     * A new connection's session.
     *
     * @param authenticator tells who the client is
     */
    public Session(long id, SocketAddress remote, SocketAddress local, Authenticator authenticator) {
        this.id = id;
        this.remote = remote;
        this.local = local;
        this.authenticator = authenticator;
        this.identity = unnamed(authenticator);
    }

    private static Identity unnamed(Authenticator authenticator) {
        return new Identity("", "", "", authenticator.required() ? null : Principal.ANYONE);
    }

    /** The connection's number, which no other has. */
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

    public Identity identity() {
        return identity;
    }

    public String name() {
        return identity.name();
    }

    public void name(String newName) {
        Identity old = identity;
        identity = new Identity(newName, old.library(), old.libraryVersion(), old.principal());
    }

    public void library(String newLibrary) {
        Identity old = identity;
        identity = new Identity(old.name(), newLibrary, old.libraryVersion(), old.principal());
    }

    public void libraryVersion(String newVersion) {
        Identity old = identity;
        identity = new Identity(old.name(), old.library(), newVersion, old.principal());
    }

    /** Who the client is, or null when it has not said. */
    public @Nullable Principal principal() {
        return identity.principal();
    }

    /** Whether it is not known who the client is, though that is required. */
    public boolean stranger() {
        Principal principal = identity.principal();
        return principal == null || principal.revoked();
    }

    public void principal(Principal proved) {
        Identity old = identity;
        identity = new Identity(old.name(), old.library(), old.libraryVersion(), proved);
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

    /** Makes the session what it was when the connection began. */
    public void reset() {
        identity = unnamed(authenticator);
        protocol = Protocol.RESP2;
        transaction(null);
    }

    /** Whether the connection ends after the answers to all that came so far. */
    public boolean quitting() {
        return quitting;
    }

    public void quit() {
        quitting = true;
    }

    /** Whether nobody may wait for anything any more: the client sends no more, or the server stops. */
    boolean ending() {
        return ending;
    }

    /** Lets whoever waits for something to happen know that the connection ends; on the event loop. */
    public void end() {
        ending = true;
        if (onEnding != null) {
            onEnding.run();
        }
    }

    /** Has an action run when the connection ends, at once if it does already, in place of an earlier one. */
    public void onEnding(@Nullable Runnable action) {
        onEnding = action;
        if (action != null && ending) {
            action.run();
        }
    }
}
