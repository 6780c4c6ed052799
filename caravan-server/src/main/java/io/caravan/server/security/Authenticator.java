package io.caravan.server.security;

import io.caravan.server.net.ClientSubnet;
import io.caravan.server.security.FailedAttempts.Cost;
import java.net.SocketAddress;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the principal to whom a secret belongs, logs and counts failures, and limits the number of failures from each
 * address. Never blocks, so event loops may call it. The duration of a check depends neither on how much of a secret is
 * correct nor on the secret's user. Thread-safe.
 */
public class Authenticator {
    /** The user name that matches every user; Redis clients send it if no user name is configured. */
    public static final String DEFAULT_USER = "default";

    private static final Logger LOG = LoggerFactory.getLogger(Authenticator.class);

    private final FailedAttempts failedAttempts = new FailedAttempts(System::nanoTime);
    private final LongAdder failures = new LongAdder();
    private final LongAdder rejections = new LongAdder();
    /** The valid credentials; null if no secret is required. */
    private volatile @Nullable Credentials credentials;

    Authenticator(@Nullable Credentials credentials) {
        this.credentials = credentials;
    }

    /** Returns an authenticator that requires no secret, and grants every permission to every client. */
    public static Authenticator open() {
        return new Authenticator(null);
    }

    /** Returns an authenticator with one secret that grants every permission. */
    public static Authenticator ofPassword(byte[] password) {
        return new Authenticator(Credentials.ofPassword(password));
    }

    /** Replaces the credentials. Principals whose secrets are not among the new ones lose all permissions at once. */
    final void replace(Credentials changed) {
        Credentials old = credentials;
        credentials = old == null ? changed : changed.replacing(old);
    }

    /** Whether clients must authenticate first; if not, each client is {@link Principal#ANYONE}. */
    public final boolean required() {
        return credentials != null;
    }

    /**
     * Returns the principal to whom a user name and secret belong; {@link #DEFAULT_USER} matches any user. Returns null
     * if the secret is wrong, or was not checked because of too many wrong secrets from the same address.
     */
    public final @Nullable Principal authenticate(SocketAddress peer, String user, byte[] secret) {
        Credentials valid = credentials;
        if (valid == null) {
            return Principal.ANYONE;
        }
        ClientSubnet network = ClientSubnet.of(peer);
        if (network == null) {
            return valid.find(user, secret);
        }
        long hash = failedAttempts.hash(user, secret);
        boolean limited = !network.loopback();
        if (limited && !failedAttempts.mayTry(network, hash)) {
            rejections.increment();
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

    /** Logs each wrong secret once, without the user name, which may be a misplaced secret. */
    private static void log(SocketAddress peer, Cost cost, boolean limited) {
        if (cost != Cost.NONE) {
            LOG.warn(
                    "{} did not authenticate: wrong user or secret{}",
                    peer,
                    limited && cost == Cost.LAST_ATTEMPT ? "; its address may try no other secrets for a while" : "");
        }
    }

    /** Returns the number of times that clients have presented a wrong secret. */
    public final long failures() {
        return failures.sum();
    }

    /** Returns the number of secrets that were not checked because of too many wrong secrets from an address. */
    public final long rejections() {
        return rejections.sum();
    }
}
