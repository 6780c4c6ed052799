package io.caravan.torture.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.bench.ProgressLine;
import io.caravan.testing.ForwardingListStore;
import io.caravan.testing.Rounds;
import io.caravan.testing.ServerProcess;
import io.caravan.torture.replay.Player.ReplayException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replays a small generated session on targets that retain it and on a target that loses part of it. */
@Tag("slow")
class PlayerTest {
    private static final Trace TRACE = TraceGenerator.generate(2, 3_000);
    private static final int KILLS = Rounds.of(1, 3);

    @TempDir
    private Path directory;

    @Test
    void replaysOnMemoryStore() throws IOException, InterruptedException {
        ListStore store = keptOpen(ListStore.inMemory());
        ReplayReport report = play(new EmbeddedTarget("memory", () -> store), 0);
        assertThat(report.snapshots).isEqualTo(30);
        assertThat(report.retained).isEqualTo(1);
        assertThat(report.ackNanos.getTotalCount()).isEqualTo(3_030);
    }

    /** Returns a store that ignores calls to close it, because a closed in-memory store would lose everything. */
    private static ListStore keptOpen(ListStore store) {
        return new ForwardingListStore(store) {
            @Override
            public void close() {}
        };
    }

    @Test
    void replaysOnDurableStore() throws IOException, InterruptedException {
        play(new EmbeddedTarget("durable", () -> DurableListStore.open(directory)), 0);
    }

    @Test
    @Tag("rounds")
    void replaysAcrossServerKills() throws IOException, InterruptedException {
        ServerProcess server = new ServerProcess(directory.resolve("data"), directory.resolve("log"));
        ReplayReport report = play(RespTarget.spawned(server, "replay"), KILLS);
        assertThat(report.reopenNanos).hasSize(KILLS);
    }

    @Test
    void detectsLossOfAcknowledgedEntries() {
        assertThatThrownBy(() -> play(new LossyTarget(1), KILLS))
                .isInstanceOf(ReplayException.class)
                .hasMessageContaining("were acknowledged");
    }

    @Test
    void acceptsStoreWithoutLoss() throws IOException, InterruptedException {
        play(new LossyTarget(0), KILLS);
    }

    private static ReplayReport play(Target target, int kills) throws IOException, InterruptedException {
        try (target) {
            Player.Options options = new Player.Options(16, 100, kills, 5);
            return new Player(TRACE, target, options, new ProgressLine(System.err)).play();
        }
    }

    /** A target that keeps the entries in memory and, when it is killed, loses the last few of them. */
    private static final class LossyTarget implements Target {
        private final int lostPerKill;
        private final List<byte[]> entries = new ArrayList<>();

        LossyTarget(int lostPerKill) {
            this.lostPerKill = lostPerKill;
        }

        @Override
        public String description() {
            return "lossy";
        }

        @Override
        public void open() {}

        @Override
        public void append(byte[] entry, Acknowledgment acknowledgment) {
            entries.add(entry);
            acknowledgment.durable();
        }

        @Override
        public void snapshot(byte[] entry, Acknowledgment acknowledgment) {
            entries.clear();
            append(entry, acknowledgment);
        }

        @Override
        public List<byte[]> retained() {
            return List.copyOf(entries);
        }

        @Override
        public void kill() {
            entries.subList(Math.max(0, entries.size() - lostPerKill), entries.size())
                    .clear();
        }

        @Override
        public void shut() {}

        @Override
        public void close() {}
    }
}
