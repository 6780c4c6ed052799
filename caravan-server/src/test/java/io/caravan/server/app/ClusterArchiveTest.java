package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the archive of a cluster. The leader owns the archive. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterArchiveTest {
    private static final DocumentName NAME = DocumentName.of("soon/d");

    private final MemoryObjects objects = new MemoryObjects(InstantSource.system());

    /** Returns the sequence after the last archived value of the document {@code soon/d}, or 0. */
    private long archivedTo() {
        KeptManifest kept = Archive.open(objects.client()).manifest(NAME);
        Generation latest = kept == null ? null : kept.manifest().latest();
        return latest == null ? 0 : latest.nextSequence();
    }

    private ArchiveConfig archive(boolean adopts) {
        return Claims.config("memory:", objects::client, true, adopts, false, Duration.ofHours(10), 2, 0, false);
    }

    private static String call(TestCluster cluster, String... words) throws IOException {
        return cluster.call(cluster.awaitLeader(), words);
    }

    private static String state(TestCluster cluster) {
        try {
            return call(cluster, "INFO", "archive");
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static void awaitOwner(TestCluster cluster) {
        Eventually.await("the leader owns the archive", () -> state(cluster).contains("archive_state:owner"));
    }

    @Test
    void newLeaderTakesOverArchiveAndNewClusterRestoresIt(@TempDir Path one, @TempDir Path two) throws Exception {
        try (TestCluster cluster = new TestCluster(one, config -> config.withArchive(archive(false)), null)) {
            awaitOwner(cluster);
            assertThat(call(cluster, "RPUSH", "d", "first")).isEqualTo(":1");
            assertThat(call(cluster, "CARAVAN.ARCHIVE", "d")).contains(":1");
            assertThat(call(cluster, "CARAVAN.SPACE", "SET", "soon/", "archive-after", "1"))
                    .startsWith("[");
            ClusterNode next = cluster.follower();
            cluster.lead(next);
            awaitOwner(cluster);
            assertThat(call(cluster, "RPUSH", "d", "second")).isEqualTo(":2");
            assertThat(call(cluster, "CARAVAN.ARCHIVE", "d")).contains(":2");
            for (int count = 1; count <= 2; count++) {
                assertThat(call(cluster, "RPUSH", "soon/d", "value")).isEqualTo(":" + count);
                long expected = count;
                Eventually.await("archived", () -> archivedTo() == expected);
            }
        }
        // The first cluster has lost all its nodes and files.
        try (TestCluster cluster = new TestCluster(two, config -> config.withArchive(archive(true)), null)) {
            awaitOwner(cluster);
            assertThat(call(cluster, "CARAVAN.RESTORE", "d")).doesNotStartWith("-");
            assertThat(call(cluster, "LRANGE", "d", "0", "-1")).isEqualTo("[$first, $second]");
        }
    }
}
