package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the memory limit for replies to clients that do not read. */
class ReplyMemoryTest {
    private static final int LIMIT = 80_000;
    private static final long TIMEOUT_SECONDS = MemoryBudget.FULL_STALL_TIMEOUT.toSeconds();

    private final EmbeddedChannel timer = new EmbeddedChannel();
    private final MemoryBudget budget =
            new MemoryBudget(TestLimits.of(1, LIMIT, LIMIT, Duration.ofSeconds(15), Duration.ZERO), timer.eventLoop());
    private final Client first = new Client();
    private final Client second = new Client();

    private final class Client {
        /** A channel that accepts no bytes until {@code reads} is set. */
        final EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
                if (reads) {
                    super.doWrite(buffer);
                }
            }
        };

        final ConnectionMemory memory = new ConnectionMemory(channel, budget);
        boolean reads;
        int woken;

        Client() {
            channel.pipeline().addLast(memory);
            memory.onRoom(() -> woken++);
        }

        void write(int bytes) {
            ByteBuf buffer = Unpooled.wrappedBuffer(new byte[bytes]);
            channel.writeAndFlush(buffer);
        }

        void read() {
            reads = true;
            channel.unsafe().flush();
        }

        int woken() {
            channel.runPendingTasks();
            return woken;
        }
    }

    @BeforeEach
    void freeze() {
        timer.freezeTime();
    }

    @AfterEach
    void close() {
        for (Client client : new Client[] {first, second}) {
            client.channel.finishAndReleaseAll();
        }
        assertThat(budget.replyBytes.get()).isZero();
    }

    private void pass(long seconds) {
        timer.advanceTimeBy(seconds, TimeUnit.SECONDS);
        timer.runScheduledPendingTasks();
    }

    @Test
    void countsReplyBytesUntilSent() {
        first.write(1_000);
        first.memory.holdReply(500);
        assertThat(budget.replyBytes.get()).isEqualTo(1_500);
        first.read();
        first.memory.holdReply(-500);
        assertThat(budget.replyBytes.get()).isZero();
    }

    @Test
    void readsWaitUntilReplyMemoryIsFreed() {
        first.write(LIMIT);
        assertThat(second.memory.room()).isFalse();
        assertThat(second.memory.mayReply(0)).isTrue();
        assertThat(first.memory.mayReply(0)).isFalse();
        assertThat(second.woken()).isZero();
        first.read();
        assertThat(second.memory.room()).isTrue();
        assertThat(second.woken()).isOne();
        assertThat(first.woken()).isOne();
    }

    @Test
    void budgetStaysSpentUntilOneEighthIsFree() {
        first.memory.holdReply(LIMIT);
        first.memory.holdReply(-LIMIT / 8 + 1);
        assertThat(second.memory.room()).isFalse();
        first.memory.holdReply(-1);
        assertThat(second.memory.room()).isTrue();
    }

    /** A full reply budget must admit only small published messages, because a large one may go to many clients. */
    @Test
    void allowsOnlySmallMessagesWhenBudgetIsSpent() {
        assertThat(second.memory.mayReply(LIMIT)).isTrue();
        first.memory.holdReply(LIMIT);
        assertThat(second.memory.mayReply(LIMIT)).isFalse();
        assertThat(second.memory.mayReply(10)).isTrue();
    }

    @Test
    void closedClientReleasesReplyMemory() {
        first.write(LIMIT);
        first.channel.close();
        assertThat(second.memory.room()).isTrue();
        first.memory.holdReply(1_000);
        assertThat(budget.replyBytes.get()).isZero();
    }

    @Test
    void closesLargestStalledClientFirst() {
        second.write(LIMIT / 4);
        first.write(LIMIT);
        pass(TIMEOUT_SECONDS - 1);
        assertThat(first.channel.isOpen()).isTrue();
        pass(1);
        assertThat(first.channel.isOpen()).isFalse();
        assertThat(second.channel.isOpen()).isTrue();
        assertThat(second.memory.room()).isTrue();
        assertThat(budget.closedForReplies.sum()).isOne();
    }

    @Test
    void closesStalledClientDespiteFurtherReplies() {
        first.write(LIMIT);
        for (int i = 0; i < TIMEOUT_SECONDS; i++) {
            assertThat(first.channel.isOpen()).isTrue();
            first.write(1);
            pass(1);
        }
        assertThat(first.channel.isOpen()).isFalse();
    }

    @Test
    void keepsClientThatMakesProgress() {
        first.memory.holdReply(LIMIT + 10);
        second.write(1_000);
        for (int i = 0; i < 3; i++) {
            pass(TIMEOUT_SECONDS - 1);
            first.memory.holdReply(-1);
        }
        assertThat(first.channel.isOpen()).isTrue();
        assertThat(second.channel.isOpen()).isFalse();
    }
}
