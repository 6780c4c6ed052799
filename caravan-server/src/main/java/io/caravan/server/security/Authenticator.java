package io.caravan.server.security;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Tells whose a secret is. Never blocks, so an event loop may ask. How long an answer takes does not depend on how much of
 * a secret is right, nor on whose it is. Threads share it.
 */
public interface Authenticator {
    /** The user that stands for "whoever has this secret", as clients of Redis name it when none was configured. */
    String DEFAULT_USER = "default";

    /** Whether clients have to authenticate before they may do anything; if not, each is {@link Principal#ANYONE}. */
    boolean required();

    /** Whose secret this is, or null when it is nobody's. */
    default @Nullable Principal authenticate(byte[] secret) {
        return authenticate(DEFAULT_USER, secret);
    }

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

    /** How many times a peer has shown a wrong secret. */
    default long failures() {
        return 0;
    }

    /** How many times a secret was refused without being looked at, because its address had shown too many wrong ones. */
    default long refusals() {
        return 0;
    }

    /** Asks nobody for anything: every client may do everything, whatever secret it shows. */
    static Authenticator open() {
        return new Authenticator() {
            @Override
            public boolean required() {
                return false;
            }

            @Override
            public Principal authenticate(String user, byte[] secret) {
                return Principal.ANYONE;
            }
        };
    }

    /** One secret that allows everything. */
    static Authenticator ofPassword(byte[] password) {
        Credentials credentials = Credentials.ofPassword(password);
        return new CredentialsAuthenticator() {
            @Override
            Credentials credentials() {
                return credentials;
            }
        };
    }
}
