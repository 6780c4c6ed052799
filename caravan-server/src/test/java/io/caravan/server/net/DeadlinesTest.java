package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests timeouts that close idle and slow connections, with a clock that the test controls. */
class DeadlinesTest {
    private static final int REQUEST_SECONDS = 8;
    private static final int STALL_SECONDS = 30;
    private static final int IDLE_SECONDS = 120;

    private final SlowChannel channel = new SlowChannel();
    private final ConnectionMemory memory = Unbounded.memory(channel);
    private final Client client = new Client(channel, memory);

    /** A protocol's view of a connection, whose state the test sets. */
    private static final class Client extends Connection {
        long unfinished;
        boolean idle = true;
        boolean broken;
        int checkCount;
        int timeouts;

        Client(Channel channel, ConnectionMemory memory) {
            super(channel, memory);
        }

        @Override
        public boolean idle() {
            return idle;
        }

        @Override
        public long unfinishedRequest() {
            checkCount++;
            if (broken) {
                throw new IllegalStateException("broken");
            }
            return unfinished;
        }

        @Override
        public void requestTimedOut() {
            timeouts++;
        }

        @Override
        public void end() {}

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ReferenceCountUtil.release(message);
        }
    }

    /** A socket that accepts as many bytes as the test allows. */
    private static final class SlowChannel extends EmbeddedChannel {
        int takes = Integer.MAX_VALUE;

        @Override
        protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
            if (takes == Integer.MAX_VALUE) {
                super.doWrite(buffer);
            } else if (takes > 0) {
                buffer.progress(takes);
                takes = 0;
            }
        }
    }

    private void open() {
        channel.freezeTime();
        Duration request = Duration.ofSeconds(REQUEST_SECONDS);
        Duration stall = Duration.ofSeconds(STALL_SECONDS);
        NetworkLimits limits = TestLimits.of(1, 1, 1, request, stall, Duration.ofSeconds(IDLE_SECONDS));
        channel.pipeline().addLast(memory);
        new Deadlines(limits).watch(client, limits.idleTimeout());
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            channel.advanceTimeBy(1, TimeUnit.SECONDS);
            channel.runScheduledPendingTasks();
        }
    }

    /** Lets the channel write this number of bytes, like a socket that has become writable. */
    private void take(int bytes) {
        channel.takes = bytes;
        channel.unsafe().flush();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void firstRequestTimesOutWithoutAnyInput() {
        client.unfinished = 1;
        open();
        pass(REQUEST_SECONDS);
        assertThat(client.timeouts).isZero();
        pass(REQUEST_SECONDS / 4);
        assertThat(client.timeouts).isOne();
    }

    @Test
    void doesNotTimeOutWithoutUnfinishedRequest() {
        open();
        pass(REQUEST_SECONDS * 3);
        assertThat(client.timeouts).isZero();
    }

    @Test
    void timesEachRequestSeparately() {
        client.unfinished = 1;
        open();
        pass(REQUEST_SECONDS - 1);
        client.unfinished = 2;
        pass(REQUEST_SECONDS - 1);
        assertThat(client.timeouts).isZero();
        pass(REQUEST_SECONDS);
        assertThat(client.timeouts).isOne();
    }

    @Test
    void closesStalledButNotSlowReaders() {
        client.idle = false;
        open();
        pass(STALL_SECONDS * 3);
        channel.takes = 0;
        channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
        for (int i = 0; i < 5; i++) {
            pass(STALL_SECONDS - 1);
            take(1);
        }
        assertThat(channel.isOpen()).isTrue();
        pass(2 * STALL_SECONDS);
        assertThat(channel.isOpen()).isFalse();
    }

    /** A stalled reader must be closed even if the server keeps writing, for example event stream comments. */
    @Test
    void closesStalledReaderDespiteFurtherWrites() {
        client.idle = false;
        open();
        channel.takes = 0;
        for (int i = 0; i < 5; i++) {
            channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
            pass(STALL_SECONDS / 3);
        }
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void stallTimeoutExcludesTimeBeforeWrite() {
        client.idle = false;
        open();
        pass(STALL_SECONDS * 3 - 1);
        channel.takes = 0;
        channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
        pass(STALL_SECONDS - 1);
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void closesIdleButNotBusyConnections() {
        client.idle = false;
        open();
        pass(IDLE_SECONDS * 2);
        assertThat(channel.isOpen()).isTrue();
        client.idle = true;
        pass(IDLE_SECONDS);
        channel.writeOneInbound(Unpooled.EMPTY_BUFFER);
        pass(IDLE_SECONDS);
        assertThat(channel.isOpen()).isTrue();
        pass(IDLE_SECONDS / 4);
        assertThat(channel.isOpen()).isFalse();
    }

    /** The last reply may take longer than the idle timeout if the client receives it slowly, but without a stall. */
    @Test
    void slowReaderOfLastReplyIsNotIdle() {
        open();
        channel.takes = 0;
        channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
        for (int i = 0; i < 2 * IDLE_SECONDS / STALL_SECONDS; i++) {
            pass(STALL_SECONDS - 1);
            take(1);
        }
        assertThat(channel.isOpen()).isTrue();
        take(Integer.MAX_VALUE);
        pass(IDLE_SECONDS);
        assertThat(channel.isOpen()).isTrue();
        pass(IDLE_SECONDS / 4);
        assertThat(channel.isOpen()).isFalse();
    }

    /** A failing connection must not stop the checks of the other connections on its event loop. */
    @Test
    void reportsFailedCheckAndChecksAgain() {
        client.unfinished = 1;
        client.broken = true;
        open();
        pass(REQUEST_SECONDS);
        assertThatThrownBy(channel::checkException).isInstanceOf(IllegalStateException.class);
        client.broken = false;
        pass(REQUEST_SECONDS * 5 / 4);
        assertThat(client.timeouts).isOne();
    }

    @Test
    void stopsCheckingClosedConnection() {
        open();
        channel.close();
        client.broken = true;
        pass(REQUEST_SECONDS);
        channel.checkException();
        assertThat(client.checkCount).isZero();
    }
}
