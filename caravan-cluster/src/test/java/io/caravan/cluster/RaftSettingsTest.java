package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RaftSettingsTest {
    @TempDir
    Path directory;

    /**
     * Tests the time after which a leader without a majority steps down. By default, Ratis waits for ten seconds,
     * although this leader may be the only node that has all entries and could be elected.
     */
    @Test
    void stepDownWaitEqualsElectionTimeout() throws IOException {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            RaftProperties properties = RaftSettings.properties(config);
            assertThat(RaftServerConfigKeys.LeaderElection.leaderStepDownWaitTime(properties)
                            .toLong(TimeUnit.MILLISECONDS))
                    .isEqualTo(RaftServerConfigKeys.Rpc.timeoutMax(properties).toLong(TimeUnit.MILLISECONDS));
        }
    }

    /**
     * Tests that a follower appends entries immediately. By default, Ratis appends entries only after earlier fsyncs,
     * even if another node leads by then.
     */
    @Test
    void disablesComposedAppendEntries() throws IOException {
        try (Group group = new Group(directory)) {
            RaftProperties properties = RaftSettings.properties(group.config("a", GroupConfig.Start.CREATE));
            assertThat(RaftServerConfigKeys.Log.appendEntriesComposeEnabled(properties))
                    .isFalse();
        }
    }
}
