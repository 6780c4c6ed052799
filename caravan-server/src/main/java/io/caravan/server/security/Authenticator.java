package io.caravan.server.security;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Tells whose a secret is. Never blocks, so an event loop may ask. How long an answer takes does not depend on how much of
 * a secret is right, nor on whose it is.
 */
public interface Authenticator {
    /** The user that stands for "whoever has this secret", as clients of Redis name it when none was configured. */
    String DEFAULT_USER = "default";

    /** Whether clients have to authenticate before they may do anything; if not, each is {@link Principal#ANYONE}. */
    boolean required();

    /** Whose secret this is, or null when it is nobody's. */
    @Nullable
    Principal authenticate(byte[] secret);

    /** As {@link #authenticate(byte[])}, and it must be this user's; {@link #DEFAULT_USER} is anybody. */
    @Nullable
    Principal authenticate(String user, byte[] secret);

    /**
     * What the connection from this address asks instead of this: it logs failures, and limits how many there may be from
     * one address.
     */
    default Authenticator forPeer(SocketAddress peer) {
        return this;
    }

    /** Asks nobody for anything. */
    static Authenticator open() {
        return OpenAuthenticator.INSTANCE;
    }

    /** One secret that allows everything. */
    static Authenticator ofPassword(byte[] password) {
        return new FixedAuthenticator(Credentials.ofPassword(password));
    }
}
