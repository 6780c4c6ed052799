package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.cluster.AppliedIndex.Applied;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that Raft is notified when a transfer ends for any reason. Otherwise, Raft would not request a snapshot again.
 */
final class SnapshotReceiverTest {
    @TempDir
    Path directory;

    @Test
    void reportsUncheckedException() throws Exception {
        SnapshotReceiver.Target broken = new SnapshotReceiver.Target() {
            @Override
            public Path begin() {
                throw new UncheckedIOException(new IOException("broken on purpose"));
            }

            @Override
            public void install(Path received, Applied copied) {}
        };
        try (Group group = new Group(directory)) {
            SnapshotReceiver receiver =
                    new SnapshotReceiver(group.config("a", GroupConfig.Start.CREATE), () -> false, broken);
            RaftPeer leader =
                    RaftPeer.newBuilder().setId("b").setAddress("127.0.0.1:1").build();
            assertThat(receiver.receive(leader))
                    .failsWithin(1, TimeUnit.MINUTES)
                    .withThrowableOfType(ExecutionException.class)
                    .withRootCauseInstanceOf(IOException.class);
            receiver.awaitEnd(60);
        }
    }
}
