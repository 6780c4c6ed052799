package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.cli.client.ServerConnection.LostException;
import io.caravan.server.cli.common.IoSupplier;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the reconnection of commands that run for a long time. */
@Timeout(60)
class ReconnectingClientsTest {
    @AutoClose
    private final ServedStore served = new ServedStore();

    private final List<String> messages = new ArrayList<>();
    private final List<String> failures = new ArrayList<>(List.of("first", "second"));
    private int attempts;

    private ReconnectingClients clients(long maxLostNanos, IoSupplier<DocumentClient> target) {
        return new ReconnectingClients(
                List.of(() -> Migrations.carrier(served.address()), target), maxLostNanos, messages::add);
    }

    private IoSupplier<DocumentClient> reachable() {
        return () -> Migrations.carrier(served.address());
    }

    private static RuntimeException lost(String message) {
        return new LostException(message, new IOException(message));
    }

    private void failTwice(Supplier<RuntimeException> problem) {
        attempts++;
        if (attempts <= 2) {
            throw problem.get();
        }
    }

    @Test
    void reportsLossOnceAndContinues() throws IOException {
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, reachable())) {
            clients.run(() -> {
                failTwice(() -> lost(failures.remove(0)));
                assertThat(clients.source().descriptionOf(new byte[] {'a'})).isNull();
                assertThat(clients.target().descriptionOf(new byte[] {'a'})).isNull();
                clients.connected(", continuing");
                clients.connected(", continuing");
            });
        }
        assertThat(messages).containsExactly("first; trying again", "connected again, continuing");
    }

    /** A redirect to the leader must not be reported, even at the start, because nothing was lost. */
    @Test
    void followsRedirectToLeaderWithoutMessage() throws IOException {
        HostPort leader = HostPort.parse(served.address());
        List<HostPort> leaders = new ArrayList<>();
        AtomicReference<ReconnectingClients> self = new AtomicReference<>();
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, () -> {
            leaders.add(self.get().leader());
            failTwice(() -> ClientException.notLeader("another node leads", leader));
            return Migrations.carrier(served.address());
        })) {
            self.set(clients);
            clients.run(() -> clients.connected(""));
        }
        assertThat(messages).isEmpty();
        assertThat(leaders).containsExactly(null, leader, leader);
    }

    @Test
    void failsIfClusterHasNoLeaderAtStart() {
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, () -> {
            throw ClientException.notLeader("no node leads", null);
        })) {
            assertThatThrownBy(() -> clients.run(() -> {})).hasMessage("no node leads");
        }
    }

    @Test
    void failsIfServerIsUnreachableAtStart() {
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, () -> {
            attempts++;
            throw lost("no server");
        })) {
            assertThatThrownBy(() -> clients.run(() -> {})).hasMessage("no server");
        }
        assertThat(attempts).isEqualTo(1);
        assertThat(messages).isEmpty();
    }

    @Test
    void failsAfterMaximumTime() {
        try (ReconnectingClients clients = clients(0, reachable())) {
            assertThatThrownBy(() -> clients.run(() -> failTwice(() -> lost(failures.remove(0)))))
                    .hasMessage("second");
        }
    }

    /** A failure to write the output must end the command, or it would read and lose the same values forever. */
    @Test
    void doesNotRepeatFailedOutput() {
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, reachable())) {
            assertThatThrownBy(() -> clients.run(() -> {
                        attempts++;
                        throw new IOException("broken pipe");
                    }))
                    .hasMessage("broken pipe");
        }
        assertThat(attempts).isEqualTo(1);
    }

    /** The files with the password and the authorities are read again, and may be missing while they are replaced. */
    @Test
    void waitsForUnreadablePasswordFile() throws IOException {
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, () -> {
            if (attempts == 1) {
                attempts++;
                throw new java.nio.file.NoSuchFileException("secret");
            }
            return Migrations.carrier(served.address());
        })) {
            clients.run(() -> {
                if (attempts == 0) {
                    attempts++;
                    throw lost("first");
                }
                clients.connected("");
            });
        }
        assertThat(messages).containsExactly("first; trying again", "connected again");
    }

    @Test
    void stopEndsWork() throws IOException {
        try (ReconnectingClients clients = clients(Long.MAX_VALUE, reachable())) {
            clients.run(() -> {
                attempts++;
                clients.stop();
                clients.source().descriptionOf(new byte[] {'a'});
            });
            clients.run(() -> attempts++);
        }
        assertThat(attempts).isEqualTo(1);
        assertThat(messages).isEmpty();
    }
}
