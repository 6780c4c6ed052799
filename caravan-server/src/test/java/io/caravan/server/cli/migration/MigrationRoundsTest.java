package io.caravan.server.cli.migration;

import io.caravan.testing.Rounds;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests copies, moves, exports, and imports of documents in random states between two servers. During these commands,
 * clients write, connections break, servers restart, and files are truncated. The option
 * {@code -Dcaravan.migration.seed=} repeats one round.
 */
@Tag("rounds")
@Timeout(1800)
class MigrationRoundsTest {
    @Test
    void noAcknowledgedValueIsLost() throws Exception {
        Long one = Long.getLong("caravan.migration.seed");
        long first = one == null ? ThreadLocalRandom.current().nextLong(1L << 40) : one;
        int rounds = one == null ? Rounds.of(8, 2_000) : 1;
        System.out.println("migration rounds: " + rounds + " from seed " + first);
        try (MigrationSide source = new MigrationSide();
                MigrationSide target = new MigrationSide()) {
            for (long seed = first; seed < first + rounds; seed++) {
                run(new MigrationRound(seed, source, target), seed);
            }
        }
    }

    private static void run(MigrationRound round, long seed) throws IOException {
        try {
            round.run();
        } catch (AssertionError | RuntimeException failed) {
            throw new AssertionError("round of -Dcaravan.migration.seed=" + seed + ": " + round, failed);
        }
    }
}
