package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.FollowedLeader;
import io.caravan.server.cluster.Slots;
import io.caravan.server.config.HostPort;
import io.caravan.server.security.TestUsers;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the count of the documents in a slot. Only administrators may request it, because it checks every document. */
class SlotCountTest extends RespTestBase {
    private static final HostPort NOWHERE = new HostPort("127.0.0.1", 1);
    private static final String SLOT = String.valueOf(Slots.of("k".getBytes(UTF_8)));

    @Override
    RespFixture newFixture() throws IOException {
        TestUsers users = new TestUsers("""
                editor.secret = a-long-secret-of-editor
                editor.permissions = read, write
                root.secret = a-long-secret-of-root
                root.permissions = read, write, admin
                """);
        List<ClusterNode> nodes = Stream.of("a", "b", "c")
                .map(id -> new ClusterNode(id, NOWHERE, NOWHERE, NOWHERE))
                .toList();
        return RespFixture.leading(new FollowedLeader(nodes).cluster(), users.authenticator);
    }

    @Test
    void onlyAdministratorCanCountKeysInSlot() throws IOException {
        replies("+OK", "AUTH", "editor", "a-long-secret-of-editor");
        replies(":1", "RPUSH", "k", "v");
        String rejection = "NOPERM User editor has no permissions to run the 'cluster|countkeysinslot' command";
        fails(rejection, "CLUSTER", "COUNTKEYSINSLOT", SLOT);
        replies(":" + SLOT, "CLUSTER", "KEYSLOT", "k");
        replies("+OK", "AUTH", "root", "a-long-secret-of-root");
        replies(":1", "CLUSTER", "COUNTKEYSINSLOT", SLOT);
    }
}
