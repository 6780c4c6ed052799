package io.caravan.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterFileTest {
    private static final String GROUP = "group = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10\n";

    @TempDir
    private Path directory;

    private static String host(String id, int port) {
        return id + ".peer = 10.0.0." + port + ":7000\n" + id + ".resp = 10.0.0." + port + ":6380\n" + id
                + ".http = [::" + port + "]:4437\n";
    }

    private static String three() {
        return host("a", 1) + host("b", 2) + host("c", 3);
    }

    private ClusterFile read(String text) throws IOException {
        return ClusterFile.read(Files.writeString(directory.resolve("cluster.properties"), text));
    }

    @Test
    void saysWhoIsWhere() throws IOException {
        ClusterFile file = read("# a cluster\n" + GROUP + three());
        assertThat(file.groups().get(0).id()).isEqualTo(UUID.fromString("3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10"));
        assertThat(file.hosts()).extracting(ClusterHost::id).containsExactly("a", "b", "c");
        assertThat(file.host("b"))
                .isEqualTo(new ClusterHost(
                        "b",
                        HostPort.parse("10.0.0.2:7000"),
                        HostPort.parse("10.0.0.2:6380"),
                        HostPort.parse("[::2]:4437")));
        assertThat(file.host("a").nodeId(file.groups().get(0).id())).matches("[0-9a-f]{40}");
        assertThat(file.host("a").nodeId(file.groups().get(0).id()))
                .isNotEqualTo(file.host("b").nodeId(file.groups().get(0).id()));
    }

    @Test
    void whatIsWrongIsSaidWithTheFile() {
        refused(three(), "'group' must be a UUID");
        refused(GROUP + three().replace("b.http = [::2]:4437\n", ""), "'b.http' is missing");
        refused(GROUP + three().replace("10.0.0.2:7000", "10.0.0.2"), "'b.peer'", "HOST:PORT");
        refused(GROUP + three().replace("10.0.0.2:7000", "10.0.0.2:0"), "'b.peer'", "cannot be 0");
        refused(GROUP + three().replace("10.0.0.2:7000", "10.0.0.1:7000"), "10.0.0.1:7000 is there twice");
        refused(GROUP + three() + "d.rasp = 10.0.0.4:1\n", "'d.rasp'");
        refused(GROUP + host("a b", 1).replace("a b.", "a!b.") + host("b", 2) + host("c", 3), "a host's id");
    }

    private void refused(String text, String... parts) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cluster.properties")
                .hasMessageContainingAll(parts);
    }
}
