package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.LongTimeout;
import io.caravan.testing.Rounds;
import io.caravan.testing.simulator.Exploration;
import io.caravan.testing.simulator.SabotagedBuild;
import io.caravan.testing.simulator.SourceEdit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests interleavings of connections that share the memory budgets for requests and for replies. */
@LongTimeout
class MemoryInterleavingsTest {
    private static final int INTERLEAVINGS = Rounds.of(500, 20_000);
    private static final int SEEDS = 10_000;

    @TempDir
    Path directory;

    /** Edits to the source code that the interleavings must detect as faults. */
    enum Sabotage {
        WAIT_WITHOUT_WAKE_UP(
                RequestInterleavings.class, "MemoryBudget", "        readers.put(connection, begun);\n", ""),
        CHECK_SPACE_WITHOUT_LOCK(
                RequestInterleavings.class,
                "MemoryBudget",
                "private synchronized boolean admitsOrWakes(",
                "private boolean admitsOrWakes("),
        DO_NOT_SETTLE_WHEN_THE_CONNECTION_ENDS(
                RequestInterleavings.class, "MemoryBudget", "        settled(connection);\n", ""),
        DO_NOT_RECHECK_SPACE_ONCE_WAITING(
                ReplyMemoryInterleavings.class, "MemoryBudget", "        return !spent;\n", "        return false;\n"),
        RELEASE_UNCOUNTED_BYTES(ReplyMemoryInterleavings.class, "ConnectionMemory", """
                    public synchronized void holdReply(long bytes) {
                        if (!closed) {
                            if (replyBytes == 0 || bytes < 0) {
                                repliesProgressNanos = budget.nanoTime();
                            }
                            replyBytes += bytes;
                """, """
                    public void holdReply(long bytes) {
                        boolean counts;
                        synchronized (this) {
                            counts = !closed;
                            replyBytes += counts ? bytes : 0;
                            repliesProgressNanos = budget.nanoTime();
                        }
                        if (counts) {
                """);

        private final Class<?> program;
        private final SourceEdit edit;

        Sabotage(Class<?> program, String file, String from, String to) {
            this.program = program;
            this.edit = new SourceEdit("server/net/" + file, from, to);
        }
    }

    private Exploration exploration(Class<?> program, List<SourceEdit> edits) throws Exception {
        return new Exploration(program, edits, directory, ConnectionMemory.class, MemoryBudget.class);
    }

    @Test
    @Tag("rounds")
    void countsRequestsAndRepliesToAll() throws Exception {
        exploration(RequestInterleavings.class, List.of()).run(INTERLEAVINGS);
    }

    @Test
    @Tag("rounds")
    void countsRepliesAndCreatesThemAll() throws Exception {
        exploration(ReplyMemoryInterleavings.class, List.of()).run(INTERLEAVINGS);
    }

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    void editsApplyToSource(Sabotage sabotage) throws IOException {
        assertThat(SabotagedBuild.sources(Path.of(""), List.of(sabotage.edit))).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    @Tag("thorough")
    void detectsSabotage(Sabotage sabotage) throws Exception {
        String found = exploration(sabotage.program, List.of(sabotage.edit)).firstFailure(1, SEEDS);
        assertThat(found).isNotNull();
        System.out.println(sabotage + " is found with " + found);
    }
}
