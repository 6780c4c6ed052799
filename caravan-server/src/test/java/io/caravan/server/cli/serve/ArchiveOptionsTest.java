package io.caravan.server.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Tests the archive location of a server without a cluster, and that of each Raft group in a cluster. */
class ArchiveOptionsTest {
    @Command
    private static final class Serve {
        @Mixin
        private ArchiveOptions archive;
    }

    private static Cluster cluster(int groups) {
        return new Cluster(
                ClusterFile.of(
                        UUID.randomUUID(),
                        IntStream.range(0, groups)
                                .boxed()
                                .collect(Collectors.toMap(
                                        group -> SlotRange.ofGroup(group, groups),
                                        group -> List.of(host("h" + group, group))))),
                "h0",
                null,
                false,
                InstantSource.system());
    }

    private static ClusterNode host(String id, int number) {
        return new ClusterNode(id, address(number, 1), address(number, 2), address(number, 3));
    }

    private static HostPort address(int number, int port) {
        return HostPort.parse("10.0.0." + (number + 1) + ":" + port);
    }

    private static @Nullable ArchiveConfig config(String archive, @Nullable Cluster cluster) throws IOException {
        Serve serve = new Serve();
        new CommandLine(serve).parseArgs("--archive", archive);
        return serve.archive.config(Path.of("data", "store"), cluster);
    }

    private static String location(String archive, @Nullable Cluster cluster) throws IOException {
        return config(archive, cluster).location();
    }

    @Test
    void eachGroupHasOwnArchiveLocation() throws IOException {
        assertThat(location("s3://bucket/folder", null)).isEqualTo("s3://bucket/folder");
        assertThat(location("s3://bucket/folder/", cluster(1))).isEqualTo("s3://bucket/folder/");
        assertThat(location("s3://bucket/folder", cluster(2))).isEqualTo("s3://bucket/folder/slots-0-8191");
        assertThat(location("s3://bucket/folder/", cluster(2))).isEqualTo("s3://bucket/folder/slots-0-8191");
        assertThat(location("s3://bucket/", cluster(2))).isEqualTo("s3://bucket/slots-0-8191");
        assertThat(location("file:/folder", cluster(4))).isEqualTo("file:/folder/slots-0-4095");
    }

    @Test
    void autoArchiveIsDisabledInCluster() throws IOException {
        assertThat(config("auto", null)).isNotNull();
        assertThat(config("auto", cluster(2))).isNull();
    }
}
