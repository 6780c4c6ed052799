package io.caravan.server.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Where the archive of a host is. */
class ArchiveOptionsTest {
    @TempDir
    private Path directory;

    private static @Nullable ArchiveConfig config(@Nullable Cluster cluster, String... options) {
        return CommandLine.populateCommand(new ArchiveOptions(), options).config(Path.of("data"), cluster);
    }

    private static String place(@Nullable Cluster cluster, String url) {
        return Objects.requireNonNull(config(cluster, "--archive", url)).location();
    }

    /** Host a's view of a cluster with a host for each of these slots. */
    private Cluster cluster(String... slots) throws IOException {
        StringBuilder text = new StringBuilder("group = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10\n");
        for (int i = 0; i < slots.length; i++) {
            text.append("""
                    ID.peer = 10.0.0.1:ID1
                    ID.resp = 10.0.0.1:ID2
                    ID.http = 10.0.0.1:ID3
                    ID.slots = SLOTS
                    """.replaceAll(":ID", ":" + (i + 1))
                    .replace("ID", i == 0 ? "a" : "b")
                    .replace("SLOTS", slots[i]));
        }
        Path file = Files.writeString(directory.resolve("cluster.properties"), text);
        return new Cluster(ClusterFile.read(file), "a", null, false, InstantSource.system());
    }

    @Test
    void eachGroupOfSeveralHasAFolderOfItsOwn() throws IOException {
        Cluster several = cluster("8192-16383", "0-8191");
        assertThat(place(several, "file:/var/archive")).isEqualTo("file:/var/archive/slots-8192-16383");
        assertThat(place(several, "s3://bucket/prefix/")).isEqualTo("s3://bucket/prefix/slots-8192-16383");
        assertThat(place(several, "s3://bucket")).isEqualTo("s3://bucket/slots-8192-16383");
    }

    @Test
    void theOnlyGroupAndAServerAloneHaveAllOfIt() throws IOException {
        assertThat(place(cluster("0-16383"), "file:/var/archive/")).isEqualTo("file:/var/archive/");
        assertThat(place(null, "s3://bucket/prefix")).isEqualTo("s3://bucket/prefix");
        assertThat(config(cluster("0-16383")))
                .as("the folder of one host is no archive for the others")
                .isNull();
        assertThat(Objects.requireNonNull(config(null)).location()).endsWith("archive");
    }
}
