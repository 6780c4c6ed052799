package io.caravan.server.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.net.NetworkLimits;
import org.junit.jupiter.api.Test;

/** Tests the division of a process's open-file limit between connections and the store. */
class OpenFilesTest {
    private static final NetworkLimits LIMITS = NetworkLimits.defaults().withConnections(10_000);

    @Test
    void reservesOpenFilesForStore() {
        NetworkLimits within = ServeCommand.withinOpenFiles(LIMITS, 4096);
        assertThat(within.maxConnections()).isEqualTo(4096 - 1024);
        assertThat(within.maxConnectionsPerAddress()).isEqualTo(NetworkLimits.shareOf(4096 - 1024));
        assertThat(within.totalInFlightBytes()).isEqualTo(LIMITS.totalInFlightBytes());
    }

    @Test
    void rejectsTooFewOpenFiles() {
        assertThatThrownBy(() -> ServeCommand.withinOpenFiles(LIMITS, 511))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("511 files only", "512 or more", "ulimit -n");
    }

    @Test
    void enoughOpenFilesKeepLimits() {
        assertThat(ServeCommand.withinOpenFiles(LIMITS, 10_000 + 1024)).isSameAs(LIMITS);
        assertThat(ServeCommand.withinOpenFiles(LIMITS, Long.MAX_VALUE)).isSameAs(LIMITS);
    }
}
