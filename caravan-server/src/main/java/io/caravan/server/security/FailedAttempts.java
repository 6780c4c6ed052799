package io.caravan.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.net.ClientSubnet;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Slows down guessing: an address may present {@value #ATTEMPTS} distinct wrong secrets at once, and then another one
 * every {@value #SECONDS_PER_ATTEMPT} seconds. The same wrong secret costs nothing when it is presented again: a client
 * with a stale token is not guessing, and must not lock out others with the same address. A secret that has succeeded
 * from an address is accepted even when the address has no attempts left.
 *
 * <p>Stores only keyed hashes of secrets, under a key that exists only in this process. It stores the last {@value
 * #SECRETS} correct and the last {@value #SECRETS} wrong secrets of each address, for the last {@value #ADDRESSES}
 * addresses. Thread-safe.
 */
final class FailedAttempts {
    static final int ATTEMPTS = 20;
    static final int SECONDS_PER_ATTEMPT = 3;
    static final int ADDRESSES = 10_000;
    static final int SECRETS = 32;

    private static final long NANOS_PER_ATTEMPT = TimeUnit.SECONDS.toNanos(SECONDS_PER_ATTEMPT);
    private static final String HASH = "HmacSHA256";

    private final LongSupplier nanoClock;
    private final SecretKeySpec key = new SecretKeySpec(randomKey(), HASH);
    private final Map<ClientSubnet, Attempts> byAddress = new Recent<>(ADDRESSES);

    /** The cost of a wrong secret to its address, in attempts: none if the address presented it before. */
    enum Cost {
        NONE,
        ATTEMPT,
        LAST_ATTEMPT
    }

    /** The remaining attempts and the recent secrets of one address. */
    private static final class Attempts {
        final Set<Long> right = Collections.newSetFromMap(new Recent<>(SECRETS));
        final Set<Long> wrong = Collections.newSetFromMap(new Recent<>(SECRETS));
        /** The time at which the address will have all its attempts again. */
        long restoredNanos;

        Attempts(long now) {
            restoredNanos = now;
        }
    }

    /** A map that drops its least recently used entry when it exceeds a limit. Small while it is empty. */
    private static final class Recent<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1L;

        private final int limit;

        Recent(int limit) {
            super(1, 0.75f, true);
            this.limit = limit;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > limit;
        }
    }

    FailedAttempts(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    private static byte[] randomKey() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    /** Returns the keyed hash that represents a user's secret in this class. */
    long hash(String user, byte[] secret) {
        try {
            Mac mac = Mac.getInstance(HASH);
            mac.init(key);
            mac.update(user.getBytes(UTF_8));
            mac.update((byte) 0);
            return ByteBuffer.wrap(mac.doFinal(secret)).getLong();
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError("every Java has " + HASH, impossible);
        }
    }

    /** Whether the address may present this secret now. */
    synchronized boolean mayTry(ClientSubnet peer, long secret) {
        Attempts attempts = byAddress.get(peer);
        return attempts == null
                || attempts.right.contains(secret)
                || attempts.wrong.contains(secret)
                || hasAttempt(attempts.restoredNanos - nanoClock.getAsLong());
    }

    private static boolean hasAttempt(long untilRestoredNanos) {
        return untilRestoredNanos <= (ATTEMPTS - 1) * NANOS_PER_ATTEMPT;
    }

    /** Records that the secret was correct. */
    synchronized void succeeded(ClientSubnet peer, long secret) {
        Attempts attempts = attempts(peer);
        attempts.wrong.remove(secret);
        attempts.right.add(secret);
    }

    /** Records that the secret was wrong, and returns its cost. */
    synchronized Cost failed(ClientSubnet peer, long secret) {
        Attempts attempts = attempts(peer);
        attempts.right.remove(secret);
        if (!attempts.wrong.add(secret)) {
            return Cost.NONE;
        }
        long now = nanoClock.getAsLong();
        long untilRestored = Math.max(0, attempts.restoredNanos - now) + NANOS_PER_ATTEMPT;
        attempts.restoredNanos = now + untilRestored;
        return hasAttempt(untilRestored) ? Cost.ATTEMPT : Cost.LAST_ATTEMPT;
    }

    private Attempts attempts(ClientSubnet peer) {
        return byAddress.computeIfAbsent(peer, unseen -> new Attempts(nanoClock.getAsLong()));
    }
}
