package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
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

/** Tests interleavings of threads that complete replies for the connections of an event loop. */
@LongTimeout
class ReplyInterleavingsTest {
    private static final int INTERLEAVINGS = Rounds.of(1_000, 20_000);
    private static final int SEEDS = 5_000;

    @TempDir
    Path directory;

    /** Edits to the source code that the interleavings must detect as faults. */
    enum Sabotage {
        MISS_REPLIES_COMPLETED_DURING_DELIVERY("ReplyQueue", """
                        delivers.set(false);
                        for (PendingReply reply = completed.poll(); reply != null; reply = completed.poll()) {
                            reply.markDone(nowNanos);
                        }
                """, """
                        for (PendingReply reply = completed.poll(); reply != null; reply = completed.poll()) {
                            reply.markDone(nowNanos);
                        }
                        delivers.set(false);
                """),
        TAKE_ANY_THREAD_FOR_THE_LOOP("ReplyQueue", "if (loop.inEventLoop()) {", "if (owner.inProgress()) {"),
        WRITE_INCOMPLETE_REPLY("ReplyQueue", "        if (!head.done) {\n            return false;\n        }\n", ""),
        KEEP_COUNTING_WHAT_IS_WRITTEN("ReplyQueue", "            head.hold(0);\n", ""),
        REPORT_ABANDONED_REPLY_AS_COMPLETE(
                "ReplyQueue",
                "                ended(RequestOutcome.ABANDONED, System.nanoTime());\n",
                "                ended(RequestOutcome.ABANDONED, 0);\n                ended(RequestOutcome.OK, 0);\n");

        private final SourceEdit edit;

        Sabotage(String file, String from, String to) {
            this.edit = new SourceEdit("server/protocol/resp/" + file, from, to);
        }
    }

    private Exploration exploration(List<SourceEdit> edits) throws Exception {
        return new Exploration(ReplyInterleavings.class, edits, directory, ReplyQueue.class, PendingReply.class);
    }

    @Test
    @Tag("rounds")
    void eachRequestReceivesOneReplyInOrder() throws Exception {
        exploration(List.of()).run(INTERLEAVINGS);
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
        String found = exploration(List.of(sabotage.edit)).firstFailure(1, SEEDS);
        assertThat(found).isNotNull();
        System.out.println(sabotage + " is found with " + found);
    }
}
