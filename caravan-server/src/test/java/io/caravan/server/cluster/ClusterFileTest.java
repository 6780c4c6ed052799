package io.caravan.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterFileTest {
    private static final String GROUP = "cluster = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10\n";

    @TempDir
    private Path directory;

    private static String node(String id, int port) {
        return id + ".peer = 10.0.0." + port + ":7000\n" + id + ".resp = 10.0.0." + port + ":6380\n" + id
                + ".http = [::" + port + "]:4437\n";
    }

    private static String three() {
        return node("a", 1) + node("b", 2) + node("c", 3);
    }

    private ClusterFile read(String text) throws IOException {
        return ClusterFile.read(Files.writeString(directory.resolve("cluster.properties"), text));
    }

    @Test
    void readsNodesAndAddresses() throws IOException {
        ClusterFile file = read("# a cluster\n" + GROUP + three());
        assertThat(file.groups().get(0).id()).isEqualTo(UUID.fromString("3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10"));
        assertThat(file.nodes()).extracting(ClusterNode::id).containsExactly("a", "b", "c");
        assertThat(file.node("b"))
                .isEqualTo(new ClusterNode(
                        "b",
                        HostPort.parse("10.0.0.2:7000"),
                        HostPort.parse("10.0.0.2:6380"),
                        HostPort.parse("[::2]:4437")));
        assertThat(file.node("a").nodeId(file.groups().get(0).id())).matches("[0-9a-f]{40}");
        assertThat(file.node("a").nodeId(file.groups().get(0).id()))
                .isNotEqualTo(file.node("b").nodeId(file.groups().get(0).id()));
    }

    private static String slots(String slots, String... ids) {
        return Stream.of(ids).map(id -> id + ".slots = " + slots + "\n").collect(Collectors.joining());
    }

    private static String six() {
        return GROUP + three() + node("d", 4) + node("e", 5) + node("f", 6);
    }

    @Test
    void nodesWithSameSlotsFormGroup() throws IOException {
        ClusterFile file = read(six() + slots("8192-16383", "a", "c", "e") + slots("0-8191", "b", "d", "f"));
        assertThat(file.groups())
                .extracting(ClusterGroup::slots)
                .containsExactly(new SlotRange(0, 8191), new SlotRange(8192, 16_383));
        assertThat(file.groups().get(0).nodes()).extracting(ClusterNode::id).containsExactly("b", "d", "f");
        assertThat(file.groupOf("e")).isEqualTo(file.groups().get(1));
        assertThat(file.node("e").resp()).isEqualTo(HostPort.parse("10.0.0.5:6380"));
    }

    /** Groups with different slots must have different ids, so that a node with changed slots finds no Raft log. */
    @Test
    void otherSlotsYieldOtherGroupId() throws IOException {
        ClusterFile one = read(GROUP + three());
        ClusterFile two = read(six() + slots("0-8191", "a", "b", "c") + slots("8192-16383", "d", "e", "f"));
        ClusterFile uneven = read(six() + slots("0-8000", "a", "b", "c") + slots("8001-16383", "d", "e", "f"));
        assertThat(one.groupOf("a").id())
                .as("as before there were slots")
                .isEqualTo(UUID.fromString("3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10"));
        assertThat(read(GROUP + three() + slots("0-16383", "a", "b", "c"))).isEqualTo(one);
        assertThat(Stream.of(one, two, uneven)
                        .flatMap(file -> file.groups().stream())
                        .map(ClusterGroup::id))
                .doesNotHaveDuplicates();
        assertThat(read(six() + slots("0-8191", "a", "b", "c") + slots("8192-16383", "d", "e", "f")))
                .isEqualTo(two);
    }

    @Test
    void rejectsOverlappingOrMissingSlots() {
        String first = slots("0-8191", "a", "b", "c");
        assertRejected(six() + first, "each slot exactly once", "a node without .slots has all");
        assertRejected(six() + first + slots("8192-16383", "d", "e"), "the next group's are 0-16383");
        assertRejected(
                six() + slots("0-8191", "a", "b") + slots("0-8192", "c") + slots("8192-16383", "d", "e", "f"),
                "the next group's are 0-8192");
        assertRejected(six() + first + slots("8193-16383", "d", "e", "f"), "the next slot is 8192");
        assertRejected(six() + first + slots("8191-16383", "d", "e", "f"), "the next slot is 8192");
        assertRejected(six() + first + slots("8192-16382", "d", "e", "f"), "slots from 16383 to");
        assertRejected(GROUP + three() + slots("1-16383", "a", "b", "c"), "the next slot is 0");
        assertRejected(GROUP + three() + slots("0-16384", "a"), "'a.slots'", "from 0 to 16383");
        assertRejected(GROUP + three() + slots("9-3", "a"), "'a.slots'", "the first before the last");
        assertRejected(GROUP + three() + slots("all", "a"), "'a.slots'", "FIRST-LAST");
    }

    private static Stream<byte[]> names(int count) {
        return IntStream.range(0, count).mapToObj(number -> ("document-" + number).getBytes(StandardCharsets.UTF_8));
    }

    /** The slots must be divided evenly, and the division among Raft groups must match that among a server's shards. */
    @Test
    void dividesSlotsEvenly() {
        for (int groups = 1; groups <= 5; groups++) {
            int count = groups;
            int next = 0;
            for (int group = 0; group < groups; group++) {
                SlotRange slots = SlotRange.ofGroup(group, groups);
                assertThat(slots.first()).isEqualTo(next);
                int number = group;
                assertThat(names(1_000))
                        .allMatch(name -> slots.contains(Slots.of(name)) == (Slots.group(name, count) == number));
                assertThat(slots.count()).isBetween(Slots.COUNT / groups, Slots.COUNT / groups + 1);
                next = slots.last() + 1;
            }
            assertThat(next).isEqualTo(Slots.COUNT);
        }
    }

    @Test
    void reportsErrorsWithFileName() {
        assertRejected(three(), "'cluster' must be a UUID");
        assertRejected(GROUP + three().replace("b.http = [::2]:4437\n", ""), "'b.http' is missing");
        assertRejected(GROUP + three().replace("10.0.0.2:7000", "10.0.0.2"), "'b.peer'", "HOST:PORT");
        assertRejected(GROUP + three().replace("10.0.0.2:7000", "10.0.0.2:0"), "'b.peer'", "cannot be 0");
        assertRejected(
                GROUP + three().replace("10.0.0.2:7000", "10.0.0.1:7000"), "the address 10.0.0.1:7000 occurs twice");
        assertRejected(GROUP + three() + "d.rasp = 10.0.0.4:1\n", "'d.rasp'");
        assertRejected(
                GROUP + node("a b", 1).replace("a b.", "a!b.") + node("b", 2) + node("c", 3), "the id of a node");
    }

    private void assertRejected(String text, String... parts) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cluster.properties")
                .hasMessageContainingAll(parts);
    }
}
