package io.caravan.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.ClientSubnet;
import io.caravan.server.security.FailedAttempts.Cost;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the limit on failed authentication attempts from an address. It must not affect clients at other addresses. */
class FailedAttemptsTest {
    private static final byte[] RIGHT = "right".getBytes(UTF_8);

    private long nowNanos = Long.MAX_VALUE - 5;
    private final FailedAttempts attempts = new FailedAttempts(() -> nowNanos);
    private long lastGuess = 1_000;

    private static InetSocketAddress peer(String address) {
        try {
            return new InetSocketAddress(InetAddress.getByName(address), 1234);
        } catch (UnknownHostException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static ClientSubnet network(String address) {
        return Objects.requireNonNull(ClientSubnet.of(peer(address)));
    }

    private boolean mayGuess(String address) {
        return attempts.mayTry(network(address), lastGuess + 1);
    }

    private Cost guess(String address) {
        return attempts.failed(network(address), ++lastGuess);
    }

    private void failAll(String address) {
        for (int i = 1; i <= FailedAttempts.ATTEMPTS; i++) {
            assertThat(mayGuess(address)).isTrue();
            assertThat(guess(address)).isEqualTo(i == FailedAttempts.ATTEMPTS ? Cost.LAST_ATTEMPT : Cost.ATTEMPT);
        }
    }

    private static Principal authenticate(Authenticator authenticator, String address, byte[] secret) {
        return authenticator.authenticate(peer(address), Authenticator.DEFAULT_USER, secret);
    }

    private static void guess(Authenticator authenticator, String address, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(authenticate(authenticator, address, ("wrong" + i).getBytes(UTF_8)))
                    .isNull();
        }
    }

    @Test
    void attemptsAreRestoredOneByOne() {
        failAll("192.0.2.1");
        assertThat(mayGuess("192.0.2.1")).isFalse();
        assertThat(mayGuess("192.0.2.2")).isTrue();
        nowNanos += TimeUnit.SECONDS.toNanos(FailedAttempts.SECONDS_PER_ATTEMPT);
        assertThat(mayGuess("192.0.2.1")).isTrue();
        guess("192.0.2.1");
        assertThat(mayGuess("192.0.2.1")).isFalse();
        nowNanos += TimeUnit.DAYS.toNanos(1);
        failAll("192.0.2.1");
    }

    @Test
    void repeatedWrongSecretCostsOneAttempt() {
        assertThat(attempts.failed(network("192.0.2.1"), 7)).isEqualTo(Cost.ATTEMPT);
        for (int i = 0; i < 3 * FailedAttempts.ATTEMPTS; i++) {
            assertThat(attempts.failed(network("192.0.2.1"), 7)).isEqualTo(Cost.NONE);
        }
        assertThat(mayGuess("192.0.2.1")).isTrue();
    }

    @Test
    void tracksOnlyMostRecentWrongSecrets() {
        attempts.failed(network("192.0.2.1"), 1);
        attempts.failed(network("192.0.2.1"), 2);
        for (int i = 0; i < FailedAttempts.SECRETS - 1; i++) {
            assertThat(attempts.failed(network("192.0.2.1"), 1)).isEqualTo(Cost.NONE);
            guess("192.0.2.1");
        }
        assertThat(attempts.failed(network("192.0.2.1"), 1)).isEqualTo(Cost.NONE);
        assertThat(attempts.failed(network("192.0.2.1"), 2)).isNotEqualTo(Cost.NONE);
    }

    @Test
    void secretHashDependsOnUserAndInstance() {
        assertThat(attempts.hash("a", RIGHT)).isEqualTo(attempts.hash("a", RIGHT));
        assertThat(attempts.hash("a", RIGHT)).isNotEqualTo(attempts.hash("b", RIGHT));
        assertThat(attempts.hash("a", RIGHT)).isNotEqualTo(new FailedAttempts(() -> 0).hash("a", RIGHT));
    }

    @Test
    void ipv6SubnetCountsAsOneAddress() {
        failAll("2001:db8::1");
        assertThat(mayGuess("2001:db8::2")).isFalse();
        assertThat(mayGuess("2001:db8:0:1::1")).isTrue();
    }

    @Test
    void limitsTrackedAddresses() {
        failAll("192.0.2.1");
        for (int i = 0; i < FailedAttempts.ADDRESSES; i++) {
            guess("10.1." + i / 256 + "." + i % 256);
        }
        assertThat(mayGuess("192.0.2.1")).isTrue();
    }

    @Test
    void staleSecretDoesNotLockOutAddress() {
        Authenticator shared = Authenticator.ofPassword(RIGHT);
        for (int i = 0; i < 3 * FailedAttempts.ATTEMPTS; i++) {
            assertThat(authenticate(shared, "192.0.2.1", "stale".getBytes(UTF_8)))
                    .isNull();
        }
        assertThat(authenticate(shared, "192.0.2.1", RIGHT)).isNotNull();
        assertThat(shared.failures()).isEqualTo(3L * FailedAttempts.ATTEMPTS);
        assertThat(shared.rejections()).isZero();
    }

    @Test
    void acceptsPreviouslyValidSecretFromBlockedAddress() {
        Authenticator shared = Authenticator.ofPassword(RIGHT);
        assertThat(authenticate(shared, "192.0.2.1", RIGHT)).isNotNull();
        guess(shared, "192.0.2.1", FailedAttempts.ATTEMPTS + 1);
        assertThat(authenticate(shared, "192.0.2.1", RIGHT)).isNotNull();
        assertThat(shared.rejections()).isOne();
    }

    @Test
    void blockedAddressIsRejectedEvenWithCorrectSecret() {
        Authenticator shared = Authenticator.ofPassword(RIGHT);
        guess(shared, "192.0.2.1", FailedAttempts.ATTEMPTS);
        assertThat(authenticate(shared, "192.0.2.1", RIGHT)).isNull();
        assertThat(authenticate(shared, "192.0.2.2", RIGHT)).isNotNull();
    }

    @Test
    void doesNotLimitLoopbackAddress() {
        Authenticator local = Authenticator.ofPassword(RIGHT);
        guess(local, "127.0.0.1", 2 * FailedAttempts.ATTEMPTS);
        assertThat(authenticate(local, "127.0.0.1", RIGHT)).isNotNull();
    }
}
