package io.caravan.server.security;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who a secret belongs to. Never blocks, so event loops may call it. The time it takes depends neither on how
 * much of a secret is right nor on whose it is. Threads share it.
 */
public interface Authenticator {
    /** The user that stands for "whoever has this secret", as clients of Redis name it when none was configured. */
    String DEFAULT_USER = "default";

    /** Whether clients have to authenticate before they may do anything; if not, each is {@link Principal#ANYONE}. */
    boolean required();

    /** The principal with this secret, or null. */
    default @Nullable Principal authenticate(byte[] secret) {
        return authenticate(DEFAULT_USER, secret);
    }

    /** The principal of this user with this secret, or null; {@link #DEFAULT_USER} stands for any user. */
    @Nullable
    Principal authenticate(String user, byte[] secret);

    /** The authenticator for connections from this address: it logs, counts and limits the failures from there. */
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

    /** Requires no secret: every client may do everything. */
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
        return new CredentialsAuthenticator(Credentials.ofPassword(password));
    }
}
