package io.caravan.torture.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Rounds;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.TortureMain;
import io.caravan.torture.round.TestOptions;
import io.caravan.torture.round.Torture;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSubject;
import io.caravan.torture.round.TortureSummary;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the harness accepts the unchanged server and detects sabotaged ones. */
@Tag("slow")
class ServerTortureTest {
    private static final long SEED = 1;
    private static final int FEW_ROUNDS = Rounds.of(1, 5);
    private static final int MANY_ROUNDS = 10;

    @TempDir
    private Path directory;

    @Test
    @Tag("rounds")
    void killLosesNoAcknowledgedWrites() throws IOException, InterruptedException {
        lostNothing(torture(ServerProcess.MAIN, 1, FEW_ROUNDS));
    }

    @Test
    @Tag("thorough")
    void killOfShardedServerLosesNoWrites() throws IOException, InterruptedException {
        lostNothing(torture(ServerProcess.MAIN, 3, FEW_ROUNDS));
    }

    private static void lostNothing(TortureSummary summary) {
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.rounds()).isEqualTo(FEW_ROUNDS);
        assertThat(summary.counts().acknowledged()).isPositive();
        assertThat(summary.counts().reads()).isPositive();
    }

    @Test
    @Tag("thorough")
    void detectsReplyBeforeWriteIsDurable() throws IOException, InterruptedException {
        TortureSummary summary = torture(LyingServer.RepliesEarly.class.getName(), 1, MANY_ROUNDS);
        assertThat(summary.problems()).anyMatch(problem -> problem.contains("not as acknowledged"));
        System.out.println("replying early was caught in round " + summary.rounds());
    }

    @Test
    @Tag("thorough")
    void detectsServerThatLosesWrites() throws IOException, InterruptedException {
        TortureSummary summary = torture(LyingServer.LosesWrites.class.getName(), 1, MANY_ROUNDS);
        assertThat(summary.problems()).anyMatch(problem -> problem.contains("not as acknowledged"));
        System.out.println("forgetting was caught in round " + summary.rounds());
    }

    private TortureSummary torture(String serverMain, int shards, int rounds) throws IOException, InterruptedException {
        TortureOptions options = TestOptions.of(rounds, SEED, directory, 0.5, 8, 80);
        try (TortureSubject subject = new ServerSubject(options, shards, serverMain)) {
            return new Torture(options, subject, TortureMain::verify, System.out).run();
        }
    }
}
