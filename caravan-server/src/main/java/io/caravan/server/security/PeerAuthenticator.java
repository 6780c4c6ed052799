package io.caravan.server.security;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Authenticates one peer: logs its failures, and refuses to look at a secret when it has had too many. */
final class PeerAuthenticator implements Authenticator {
    private static final Logger LOG = LoggerFactory.getLogger(PeerAuthenticator.class);

    private final Authenticator authenticator;
    private final SocketAddress peer;
    private final FailedAttempts failedAttempts;

    PeerAuthenticator(Authenticator authenticator, SocketAddress peer, FailedAttempts failedAttempts) {
        this.authenticator = authenticator;
        this.peer = peer;
        this.failedAttempts = failedAttempts;
    }

    @Override
    public boolean required() {
        return authenticator.required();
    }

    @Override
    public @Nullable Principal authenticate(byte[] secret) {
        return authenticate(DEFAULT_USER, secret);
    }

    @Override
    public @Nullable Principal authenticate(String user, byte[] secret) {
        if (limited() && !failedAttempts.mayTry(address())) {
            return null;
        }
        Principal principal = authenticator.authenticate(user, secret);
        if (principal == null) {
            failed();
        }
        return principal;
    }

    /** The user's name is the client's own words, or a secret in the wrong place, so it is not logged. */
    private void failed() {
        boolean last = limited() && failedAttempts.failed(address());
        LOG.warn(
                "{} did not authenticate: wrong user or secret{}",
                peer,
                last ? "; further attempts from its address are refused unseen for a while" : "");
    }

    /** Whoever is on this machine has other means, and a proxy on it speaks for many. */
    private boolean limited() {
        return peer instanceof InetSocketAddress address
                && address.getAddress() != null
                && !address.getAddress().isLoopbackAddress();
    }

    private InetSocketAddress address() {
        return (InetSocketAddress) peer;
    }
}
