package io.caravan.server.security;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** Authenticates by the credentials of the moment. */
abstract class CredentialsAuthenticator implements Authenticator {
    private final FailedAttempts failedAttempts = new FailedAttempts(System::nanoTime);

    /** What is valid now. */
    abstract Credentials credentials();

    @Override
    public final boolean required() {
        return true;
    }

    @Override
    public final @Nullable Principal authenticate(byte[] secret) {
        return authenticate(DEFAULT_USER, secret);
    }

    @Override
    public final @Nullable Principal authenticate(String user, byte[] secret) {
        return credentials().find(user, secret);
    }

    @Override
    public final Authenticator forPeer(SocketAddress peer) {
        return new PeerAuthenticator(this, peer, failedAttempts);
    }
}
