package io.caravan.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Guessing is slow from one address, and does not slow the others. */
class FailedAttemptsTest {
    private long nowNanos = Long.MAX_VALUE - 5;
    private final FailedAttempts attempts = new FailedAttempts(() -> nowNanos);

    private static InetSocketAddress peer(String address) {
        try {
            return new InetSocketAddress(InetAddress.getByName(address), 1234);
        } catch (UnknownHostException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private void failAll(String address) {
        for (int i = 1; i <= FailedAttempts.ATTEMPTS; i++) {
            assertThat(attempts.mayTry(peer(address))).isTrue();
            assertThat(attempts.failed(peer(address))).isEqualTo(i == FailedAttempts.ATTEMPTS);
        }
    }

    @Test
    void attemptsComeBackOneByOne() {
        failAll("192.0.2.1");
        assertThat(attempts.mayTry(peer("192.0.2.1"))).isFalse();
        assertThat(attempts.mayTry(peer("192.0.2.2"))).isTrue();
        nowNanos += TimeUnit.SECONDS.toNanos(FailedAttempts.SECONDS_PER_ATTEMPT);
        assertThat(attempts.mayTry(peer("192.0.2.1"))).isTrue();
        attempts.failed(peer("192.0.2.1"));
        assertThat(attempts.mayTry(peer("192.0.2.1"))).isFalse();
        nowNanos += TimeUnit.DAYS.toNanos(1);
        failAll("192.0.2.1");
    }

    @Test
    void aNetworkCountsAsOneAddress() {
        failAll("2001:db8::1");
        assertThat(attempts.mayTry(peer("2001:db8::2"))).isFalse();
        assertThat(attempts.mayTry(peer("2001:db8:0:1::1"))).isTrue();
    }

    @Test
    void onlySoManyAddressesAreRemembered() {
        failAll("192.0.2.1");
        for (int i = 0; i < FailedAttempts.ADDRESSES; i++) {
            attempts.failed(peer("10.1." + i / 256 + "." + i % 256));
        }
        assertThat(attempts.mayTry(peer("192.0.2.1"))).isTrue();
    }

    @Test
    void aPeerThatGuessedTooOftenIsRefusedEvenWithTheRightSecret() {
        byte[] right = "right".getBytes(UTF_8);
        Authenticator shared = Authenticator.ofPassword(right);
        Authenticator guesser = shared.forPeer(peer("192.0.2.1"));
        for (int i = 0; i < FailedAttempts.ATTEMPTS; i++) {
            assertThat(guesser.authenticate("wrong".getBytes(UTF_8))).isNull();
        }
        assertThat(guesser.authenticate(right)).isNull();
        assertThat(shared.forPeer(peer("192.0.2.2")).authenticate(right)).isNotNull();
    }

    @Test
    void theMachineItselfIsNotLimited() {
        byte[] right = "right".getBytes(UTF_8);
        Authenticator local = Authenticator.ofPassword(right).forPeer(peer("127.0.0.1"));
        for (int i = 0; i < 2 * FailedAttempts.ATTEMPTS; i++) {
            assertThat(local.authenticate("wrong".getBytes(UTF_8))).isNull();
        }
        assertThat(local.authenticate(right)).isNotNull();
    }
}
