package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** All answers together take bounded memory, whoever does not read. */
class AnswerBudgetTest {
    private static final int LIMIT = 80_000;
    private static final long PATIENCE_SECONDS = AnswerBudget.PATIENCE.toSeconds();

    private final EmbeddedChannel timer = new EmbeddedChannel();
    private final AnswerBudget budget = new AnswerBudget(LIMIT, timer.eventLoop());
    private final Client first = new Client();
    private final Client second = new Client();

    private final class Client {
        /** Takes nothing until it is told to. */
        final EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
                if (reads) {
                    super.doWrite(buffer);
                }
            }
        };

        final AnswerMemory answers = new AnswerMemory(channel, budget);
        boolean reads;
        int woken;

        Client() {
            channel.pipeline().addLast(answers);
            answers.onRoom(() -> woken++);
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
        assertThat(budget.heldBytes()).isZero();
    }

    private void pass(long seconds) {
        timer.advanceTimeBy(seconds, TimeUnit.SECONDS);
        timer.runScheduledPendingTasks();
    }

    @Test
    void whatIsWrittenCountsUntilTheClientHasTakenIt() {
        first.write(1_000);
        first.answers.hold(500);
        assertThat(budget.heldBytes()).isEqualTo(1_500);
        first.read();
        first.answers.hold(-500);
        assertThat(budget.heldBytes()).isZero();
    }

    @Test
    void readsWaitWhileAllIsSpentAndGoOnWhenAnEighthIsFree() {
        first.write(LIMIT);
        assertThat(second.answers.room()).isFalse();
        assertThat(second.answers.roomOrWake()).isFalse();
        assertThat(second.answers.mayAnswer()).isTrue();
        assertThat(first.answers.mayAnswer()).isFalse();
        assertThat(second.woken()).isZero();
        first.read();
        assertThat(second.answers.room()).isTrue();
        assertThat(second.woken()).isOne();
        assertThat(first.woken()).isOne();
    }

    @Test
    void itIsSpentUntilAnEighthIsFree() {
        first.answers.hold(LIMIT);
        first.answers.hold(-LIMIT / 8 + 1);
        assertThat(second.answers.room()).isFalse();
        first.answers.hold(-1);
        assertThat(second.answers.room()).isTrue();
    }

    /** A message may go to many subscribers, each of which holds nothing yet. */
    @Test
    void whatIsSentUnaskedIsSmallWhileThereIsNoRoom() {
        assertThat(second.answers.mayTell(LIMIT)).isTrue();
        first.answers.hold(LIMIT);
        assertThat(second.answers.mayTell(LIMIT)).isFalse();
        assertThat(second.answers.mayTell(10)).isTrue();
    }

    @Test
    void whatAGoneClientHeldIsFree() {
        first.write(LIMIT);
        first.channel.close();
        assertThat(second.answers.room()).isTrue();
        first.answers.hold(1_000);
        assertThat(budget.heldBytes()).isZero();
    }

    @Test
    void whoTakesNothingMeanwhileIsClosedTheGreatestFirstUntilThereIsRoom() {
        second.write(LIMIT / 4);
        first.write(LIMIT);
        pass(PATIENCE_SECONDS - 1);
        assertThat(first.channel.isOpen()).isTrue();
        pass(1);
        assertThat(first.channel.isOpen()).isFalse();
        assertThat(second.channel.isOpen()).isTrue();
        assertThat(second.answers.room()).isTrue();
        assertThat(budget.closedConnections()).isOne();
    }

    @Test
    void whoTakesSomethingGoesOn() {
        first.answers.hold(LIMIT + 10);
        second.write(1_000);
        for (int i = 0; i < 3; i++) {
            pass(PATIENCE_SECONDS - 1);
            first.answers.hold(-1);
            pass(1);
        }
        assertThat(first.channel.isOpen()).isTrue();
        assertThat(second.channel.isOpen()).isFalse();
    }
}
