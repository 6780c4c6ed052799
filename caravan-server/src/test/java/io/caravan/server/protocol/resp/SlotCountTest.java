package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cluster.ClusterHost;
import io.caravan.server.cluster.FollowedLeader;
import io.caravan.server.cluster.Slots;
import io.caravan.server.config.HostPort;
import io.caravan.server.security.FileAuthenticator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The count of the documents in a slot, which only an administrator may request because it checks every document. */
class SlotCountTest extends RespTestBase {
    private static final HostPort NOWHERE = new HostPort("127.0.0.1", 1);
    private static final String SLOT = String.valueOf(Slots.of("k".getBytes(UTF_8)));

    @TempDir
    private static Path directory;

    @Override
    RespFixture newFixture() throws IOException {
        Path users = Files.writeString(directory.resolve("users.properties"), """
                editor.secret = a-long-secret-of-editor
                editor.permissions = read, write
                root.secret = a-long-secret-of-root
                root.permissions = read, write, admin
                """);
        List<ClusterHost> hosts = Stream.of("a", "b", "c")
                .map(id -> new ClusterHost(id, NOWHERE, NOWHERE, NOWHERE))
                .toList();
        return RespFixture.leading(new FollowedLeader(hosts).cluster(), FileAuthenticator.ofSecrets(users));
    }

    @Test
    void onlyAnAdministratorGetsOne() throws IOException {
        answers("+OK", "AUTH", "editor", "a-long-secret-of-editor");
        answers(":1", "RPUSH", "k", "v");
        fails(
                "NOPERM User editor has no permissions to run the 'cluster|countkeysinslot' command",
                "CLUSTER",
                "COUNTKEYSINSLOT",
                SLOT);
        answers(":" + SLOT, "CLUSTER", "KEYSLOT", "k");
        answers("+OK", "AUTH", "root", "a-long-secret-of-root");
        answers(":1", "CLUSTER", "COUNTKEYSINSLOT", SLOT);
    }
}
