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

    private static String slots(String slots, String... ids) {
        StringBuilder text = new StringBuilder();
        for (String id : ids) {
            text.append(id).append(".slots = ").append(slots).append('\n');
        }
        return text.toString();
    }

    private static String six() {
        return three() + host("d", 4) + host("e", 5) + host("f", 6);
    }

    @Test
    void hostsWithTheSameSlotsAreAGroup() throws IOException {
        ClusterFile file = read(GROUP + six() + slots("8192-16383", "a", "c", "e") + slots("0-8191", "b", "d", "f"));
        assertThat(file.groups())
                .extracting(ClusterGroup::slots)
                .containsExactly(SlotRange.ofGroup(0, 2), SlotRange.ofGroup(1, 2));
        assertThat(file.groupOf("f").hosts()).extracting(ClusterHost::id).containsExactly("b", "d", "f");
        assertThat(file.groupOf("a").hosts()).extracting(ClusterHost::id).containsExactly("a", "c", "e");
        assertThat(file.groups()).extracting(ClusterGroup::id).doesNotHaveDuplicates();
    }

    /** A file that says them for the only group means the same group as one that does not. */
    @Test
    void theOnlyGroupIsTheCluster() throws IOException {
        assertThat(read(GROUP + three() + slots("0-16383", "a", "b", "c"))).isEqualTo(read(GROUP + three()));
    }

    @Test
    void theSlotsOfTheGroupsAreAllAndEachOnce() {
        String first = slots("0-8191", "a", "b", "c");
        String second = slots("8192-16383", "d", "e", "f");
        refused(GROUP + six() + first, "behind slot", "0-16383", "a host without .slots has all");
        refused(GROUP + six() + first + slots("8192-16383", "d", "e"), "behind slot", "0-16383");
        refused(GROUP + six() + slots("0-8191", "a", "b") + slots("0-8192", "c") + second, "behind slot", "0-8192");
        refused(GROUP + six() + slots("0-8190", "a", "b", "c") + second, "behind slot 8190 come 8192-16383");
        refused(GROUP + six() + slots("0-8192", "a", "b", "c") + second, "behind slot 8192 come 8192-16383");
        refused(
                GROUP + six() + first + slots("8192-16382", "d", "e", "f"),
                "no host has the slots from 16383 to 16383");
        refused(GROUP + six() + slots("1-8191", "a", "b", "c") + second, "come 1-8191");
        refused(GROUP + six() + first + slots("8192-16384", "d", "e", "f"), "'d.slots'", "from 0 to 16383");
        refused(GROUP + six() + first + slots("16383-8192", "d", "e", "f"), "'d.slots'", "the first before the last");
        refused(GROUP + six() + first + slots("8192", "d", "e", "f"), "'d.slots'", "FIRST-LAST");
        refused(GROUP + six() + first + second + slots("0-8191", "g"), "'g.peer' is missing");
    }

    private void refused(String text, String... parts) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cluster.properties")
                .hasMessageContainingAll(parts);
    }
}
