package io.caravan.server.security;

import io.caravan.server.net.PeerNetwork;
import java.net.SocketAddress;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Authenticates by credentials, which may be replaced; logs, counts and limits the failures of each peer. */
class CredentialsAuthenticator implements Authenticator {
    private static final Logger LOG = LoggerFactory.getLogger(CredentialsAuthenticator.class);

    private final FailedAttempts failedAttempts = new FailedAttempts(System::nanoTime);
    private final LongAdder failures = new LongAdder();
    private final LongAdder refusals = new LongAdder();

    private volatile Credentials credentials;

    CredentialsAuthenticator(Credentials credentials) {
        this.credentials = credentials;
    }

    /** Principals whose secrets are not among these may do nothing from now on. */
    final void replace(Credentials changed) {
        credentials = changed.replacing(credentials);
    }

    @Override
    public final boolean required() {
        return true;
    }

    @Override
    public final @Nullable Principal authenticate(String user, byte[] secret) {
        return credentials.find(user, secret);
    }

    @Override
    public final Authenticator forPeer(SocketAddress peer) {
        return new ForPeer(peer);
    }

    @Override
    public final long failures() {
        return failures.sum();
    }

    @Override
    public final long refusals() {
        return refusals.sum();
    }

    private final class ForPeer implements Authenticator {
        private final SocketAddress peer;

        ForPeer(SocketAddress peer) {
            this.peer = peer;
        }

        @Override
        public boolean required() {
            return true;
        }

        @Override
        public @Nullable Principal authenticate(String user, byte[] secret) {
            PeerNetwork network = PeerNetwork.of(peer);
            if (network == null) {
                return CredentialsAuthenticator.this.authenticate(user, secret);
            }
            long hash = failedAttempts.hash(user, secret);
            boolean limited = !network.loopback();
            if (limited && !failedAttempts.mayTry(network, hash)) {
                refusals.increment();
                return null;
            }
            Principal principal = CredentialsAuthenticator.this.authenticate(user, secret);
            if (principal == null) {
                failed(failedAttempts.failed(network, hash), limited);
            } else {
                failedAttempts.succeeded(network, hash);
            }
            return principal;
        }

        /** Each secret is logged once. The user's name is not: it is the client's own words, or a misplaced secret. */
        private void failed(FailedAttempts.Cost cost, boolean limited) {
            failures.increment();
            if (cost != FailedAttempts.Cost.NONE) {
                LOG.warn(
                        "{} did not authenticate: wrong user or secret{}",
                        peer,
                        limited && cost == FailedAttempts.Cost.LAST_ATTEMPT
                                ? "; its address may try no other secrets for a while"
                                : "");
            }
        }
    }
}
