package io.caravan.server.security;

import io.caravan.server.net.PeerNetwork;
import io.caravan.server.security.FailedAttempts.Cost;
import java.net.SocketAddress;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out who a secret belongs to; logs and counts failures, and limits those of each address. Never blocks, so event
 * loops may call it. The time it takes depends neither on how much of a secret is right nor on whose it is. Threads
 * share it.
 */
public class Authenticator {
    /** The user that stands for "whoever has this secret", as clients of Redis name it when none was configured. */
    public static final String DEFAULT_USER = "default";

    private static final Logger LOG = LoggerFactory.getLogger(Authenticator.class);

    private final FailedAttempts failedAttempts = new FailedAttempts(System::nanoTime);
    private final LongAdder failures = new LongAdder();
    private final LongAdder refusals = new LongAdder();
    /** Null when no secret is required. */
    private volatile @Nullable Credentials credentials;

    Authenticator(@Nullable Credentials credentials) {
        this.credentials = credentials;
    }

    /** Requires no secret: every client may do everything. */
    public static Authenticator open() {
        return new Authenticator(null);
    }

    /** One secret that allows everything. */
    public static Authenticator ofPassword(byte[] password) {
        return new Authenticator(Credentials.ofPassword(password));
    }

    /** Principals whose secrets are not among these may do nothing from now on. */
    final void replace(Credentials changed) {
        Credentials old = credentials;
        credentials = old == null ? changed : changed.replacing(old);
    }

    /** Whether clients have to authenticate before they may do anything; if not, each is {@link Principal#ANYONE}. */
    public final boolean required() {
        return credentials != null;
    }

    /**
     * The principal of this user with this secret, or null: it is wrong, or is not looked at because its address has
     * shown too many wrong ones. {@link #DEFAULT_USER} stands for any user.
     */
    public final @Nullable Principal authenticate(SocketAddress peer, String user, byte[] secret) {
        Credentials valid = credentials;
        if (valid == null) {
            return Principal.ANYONE;
        }
        PeerNetwork network = PeerNetwork.of(peer);
        if (network == null) {
            return valid.find(user, secret);
        }
        long hash = failedAttempts.hash(user, secret);
        boolean limited = !network.loopback();
        if (limited && !failedAttempts.mayTry(network, hash)) {
            refusals.increment();
            return null;
        }
        Principal principal = valid.find(user, secret);
        if (principal == null) {
            failures.increment();
            log(peer, failedAttempts.failed(network, hash), limited);
        } else {
            failedAttempts.succeeded(network, hash);
        }
        return principal;
    }

    /** Each secret is logged once. The user's name is not: it is the client's own words, or a misplaced secret. */
    private static void log(SocketAddress peer, Cost cost, boolean limited) {
        if (cost != Cost.NONE) {
            LOG.warn(
                    "{} did not authenticate: wrong user or secret{}",
                    peer,
                    limited && cost == Cost.LAST_ATTEMPT ? "; its address may try no other secrets for a while" : "");
        }
    }

    /** How many times a peer has shown a wrong secret. */
    public final long failures() {
        return failures.sum();
    }

    /** How many times a secret was not looked at, because its address had shown too many wrong ones. */
    public final long refusals() {
        return refusals.sum();
    }
}
