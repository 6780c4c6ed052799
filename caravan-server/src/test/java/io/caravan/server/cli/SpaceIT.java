package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.protocol.resp.RespClient;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Spaces outlive a server that is killed. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpaceIT {
    @TempDir
    private Path data;

    @Test
    void whatWasAnsweredIsThereAfterAKill() throws Exception {
        String space;
        try (ServerProcess server = ServerProcess.start(data);
                RespClient client = server.connect()) {
            client.call("CARAVAN.SPACE", "SET", "gone/", "max-values", "1");
            client.call("RPUSH", "kept/d", "1", "2", "3");
            client.call("CARAVAN.SPACE", "SET", "kept/", "retain-values", "2", "quota-bytes", "2");
            client.call("RPUSH", "kept/d", "4");
            assertThat(client.call("CARAVAN.SPACE", "REMOVE", "gone/")).isEqualTo(":1");
            space = client.call("CARAVAN.SPACE", "GET", "kept/");
            assertThat(space).contains("$quota-bytes, :2, $documents, :1, $bytes, :2, ");
            server.kill();
        }
        try (ServerFixture server = new ServerFixture(SmallFiles.open(data));
                RespClient client = server.connect()) {
            assertThat(client.call("CARAVAN.SPACE", "LIST"))
                    .startsWith("[[" + space.substring(1, space.indexOf("$writes")))
                    .doesNotContain("gone/");
            assertThat(client.call("RPUSH", "kept/e", "5")).startsWith("-QUOTA ");
            assertThat(client.call("RPUSH", "kept/d", "5")).startsWith(":");
            assertThat(client.call("LRANGE", "kept/d", "0", "-1")).isEqualTo("[$4, $5]");
        }
    }
}
