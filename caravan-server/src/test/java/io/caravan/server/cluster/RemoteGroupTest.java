package io.caravan.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.LeaderLookup;
import io.caravan.server.config.HostPort;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteGroupTest {
    private static final ClusterNode SILENT = new ClusterNode(
            "a", HostPort.parse("127.0.0.1:1"), HostPort.parse("127.0.0.1:2"), HostPort.parse("127.0.0.1:3"));
    private static final ClusterGroup GROUP =
            ClusterGroup.of(UUID.randomUUID(), SlotRange.ofGroup(1, 2), List.of(SILENT));

    @TempDir
    private Path directory;

    private final RemoteGroup other = new RemoteGroup(GROUP, SILENT, InstantSource.system());

    private void queryOnce(GroupConfig.@Nullable Tls tls) {
        try (LeaderLookup lookup = new LeaderLookup(GROUP.id(), tls, Duration.ofSeconds(1))) {
            other.query(lookup);
        }
        assertThat(other.leader()).isEmpty();
        assertThat(other.nodes()).containsExactly(SILENT);
    }

    /** The lookup of the leader must survive unreadable certificates, because a task that throws does not run again. */
    @Test
    void unreadableCertificatesDoNotStopLookup() throws Exception {
        Path file = directory.resolve("file.pem");
        queryOnce(new GroupConfig.Tls(file, file, file));
        Files.writeString(file, "half of a certif");
        queryOnce(new GroupConfig.Tls(file, file, file));
        queryOnce(null);
    }

    @Test
    void canBeClosedTwice() {
        other.start(null);
        other.close();
        assertThatNoException().isThrownBy(other::close);
    }
}
