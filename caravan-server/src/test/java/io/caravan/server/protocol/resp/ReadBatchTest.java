package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadBatchTest {
    private static final int READS = 4;
    private static final long LIMIT = 1L << 40;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ConnectionMemory memory = Unbounded.memory(channel, LIMIT);
    private final Session session = RespFixture.session(channel, memory);
    private final Queue<Runnable> readers = new ArrayDeque<>();
    private final AtomicInteger pauses = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();

    private ReadBatch batch(Action.Immediate action) {
        CommandSpec spec = CommandSpec.server("READ", 1, "", "").waiting(action);
        List<PendingReply> reads = new ArrayList<>();
        for (int i = 0; i < READS; i++) {
            reads.add(session.replies.open(session, RespFixture.command(spec, "READ"), 0));
        }
        return new ReadBatch(session, readers::add, reads, pauses::incrementAndGet);
    }

    /** Runs one turn of the batch and returns the number of reads completed so far. */
    private int turn(ReadBatch batch) {
        int pausesBefore = pauses.get();
        batch.start();
        readers.remove().run();
        channel.runPendingTasks();
        assertThat(pauses).hasValue(pausesBefore + 1);
        assertThat(batch.finished()).isEqualTo(done.get() == READS);
        return done.get();
    }

    /**
     * Runs turns until {@code reads} reads are complete, and returns the number of turns. On a busy machine, a turn may
     * complete no read.
     */
    private int turnsUntil(ReadBatch batch, int reads) {
        int turns = 0;
        while (done.get() < reads) {
            turn(batch);
            turns++;
        }
        return turns;
    }

    @Test
    void completesSeveralQuickReadsPerTurn() {
        ReadBatch batch = batch((session, command) -> new Reply.Number(done.incrementAndGet()));
        assertThat(turnsUntil(batch, READS)).isLessThan(READS);
    }

    @Test
    void yieldsThreadAfterSlowRead() {
        ReadBatch batch = batch((session, command) -> {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(15);
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            return new Reply.Number(done.incrementAndGet());
        });
        for (int turns = 1; turns <= READS; turns++) {
            assertThat(turn(batch)).isEqualTo(turns);
        }
    }

    /** The reads of a closed connection must be discarded, or the queue would retain their requests. */
    @Test
    void discardsReadsOfClosedConnection() {
        ReadBatch batch = batch((session, command) -> new Reply.Number(done.incrementAndGet()));
        batch.start();
        session.waiting.close();
        readers.remove().run();
        channel.runPendingTasks();
        assertThat(done).hasValue(0);
        assertThat(pauses).hasValue(0);
    }

    /** A batch must pause when other connections fill the reply memory after the batch has been admitted. */
    @Test
    void pausesWhileSharedReplyMemoryIsFull() {
        ReadBatch batch = batch((session, command) -> {
            if (done.incrementAndGet() == 1) {
                memory.holdReply(LIMIT);
            }
            return new Reply.Number(done.get());
        });
        memory.holdReply(LIMIT);
        assertThat(turn(batch)).isZero();
        memory.holdReply(-LIMIT);
        assertThat(turn(batch)).isOne();
        memory.holdReply(-LIMIT);
        assertThat(turnsUntil(batch, READS)).isPositive();
    }

    @Test
    void pausesWhileConnectionReplyMemoryIsFull() {
        ReadBatch batch = batch((session, command) -> {
            done.incrementAndGet();
            return new Reply.Bulk(new byte[600_000]);
        });
        turnsUntil(batch, 2);
        assertThat(memory.full()).isTrue();
        assertThat(done).hasValue(2);
        while (session.replies.flush()) {
            // Each reply fills the socket's buffer.
        }
        assertThat(memory.full()).isFalse();
        assertThat(turnsUntil(batch, READS)).isPositive();
        channel.finishAndReleaseAll();
    }
}
