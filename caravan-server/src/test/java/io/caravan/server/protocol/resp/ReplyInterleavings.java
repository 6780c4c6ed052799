package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.simulator.Interleaver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;

/**
 * Simulates two connections on one event loop. Their replies are completed by other threads in any order, by the event
 * loop, or in pieces. A client may read its replies late, and a connection may end at any time.
 */
final class ReplyInterleavings {
    private final SplittableRandom random;
    private final Interleaver threads;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final EventLoop loop = loop();
    private final List<Connection> connections = new ArrayList<>();
    private boolean onLoop;

    private ReplyInterleavings(long seed, Interleaver threads) {
        this.random = new SplittableRandom(seed);
        this.threads = threads;
    }

    static void explore(long seed) {
        try (Interleaver threads = new Interleaver(seed)) {
            new ReplyInterleavings(seed, threads).run();
        }
    }

    /** Returns an event loop for other threads, which only call {@code inEventLoop} and {@code execute}. */
    private EventLoop loop() {
        return (EventLoop) Proxy.newProxyInstance(
                EventLoop.class.getClassLoader(), new Class<?>[] {EventLoop.class}, (self, method, arguments) -> {
                    if (method.getName().equals("execute")) {
                        return tasks.add((Runnable) arguments[0]);
                    }
                    assertThat(method.getName()).isEqualTo("inEventLoop");
                    return onLoop && "loop".equals(Interleaver.currentName());
                });
    }

    private void run() {
        for (int i = 0; i < 2; i++) {
            connections.add(new Connection("connection " + i));
        }
        onLoop = true;
        threads.worker(
                "loop",
                () -> !tasks.isEmpty()
                        || connections.stream().anyMatch(each -> each.toRequest > 0 || each.channel.hasPendingTasks()),
                this::turn);
        connections.forEach(Connection::begin);
        threads.run();
        onLoop = false;
        connections.forEach(Connection::check);
    }

    private void turn() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        connections.forEach(each -> each.channel.runPendingTasks());
        connections.get(random.nextInt(connections.size())).ask();
    }

    private final class Connection implements ReplyQueue.Owner {
        private final String name;
        private final EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
                if (takes) {
                    super.doWrite(buffer);
                }
            }
        };
        private final ConnectionMemory memory = Unbounded.memory(channel);
        private final ReplyQueue replies = new ReplyQueue(channel, loop, memory, this);
        private final Session session = new Session(1, channel, Authenticator.open(), new Channels(), replies);
        private final List<String> ends = new ArrayList<>();
        private final StringBuilder taken = new StringBuilder();
        private int toRequest = 1 + random.nextInt(4);
        private int requested;
        private boolean takes = random.nextBoolean();
        private boolean inProgress;
        private boolean moreProgress;
        private boolean ended;

        Connection(String name) {
            this.name = name;
            channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            channel.pipeline().addFirst(memory).addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelWritabilityChanged(ChannelHandlerContext context) {
                    progress();
                }
            });
        }

        void begin() {
            threads.thread(
                    name,
                    () -> Interleaver.await(
                            "its replies",
                            () -> ended || toRequest == 0 && ends.size() == requested && replies.isEmpty()));
            if (!takes) {
                threads.thread(
                        name + "'s client",
                        () -> tasks.add(() -> {
                            takes = true;
                            channel.unsafe().flush();
                            progress();
                        }));
            }
            if (random.nextInt(3) == 0) {
                threads.thread(name + "'s end", () -> tasks.add(this::end));
            }
        }

        private void end() {
            ended = true;
            toRequest = 0;
            channel.close();
            replies.close();
            take();
        }

        void ask() {
            if (toRequest == 0) {
                return;
            }
            toRequest--;
            int number = requested++;
            PendingReply place = replies.open(session, RespFixture.command(String.valueOf(number)), 0);
            switch (random.nextInt(4)) {
                case 0 -> {
                    inProgress = true;
                    place.complete(new Reply.Number(number));
                    inProgress = false;
                    progress();
                }
                case 1 ->
                    threads.daemon(name + "'s pieces", () -> {
                        tasks.add(() -> add(place, ":" + number));
                        tasks.add(() -> add(place, "\r\n"));
                        tasks.add(place::end);
                    });
                default -> {
                    // Unlike that of a plain number, the memory of this reply is counted.
                    Reply reply = Reply.Array.sequence(List.of(new Reply.Number(number)));
                    threads.daemon(name + "'s reply", () -> place.complete(reply));
                }
            }
        }

        private void add(PendingReply place, String text) {
            ByteBuf bytes = Unpooled.copiedBuffer(text, US_ASCII);
            memory.holdReply(bytes.capacity());
            place.add(new ReplyQueue.Piece(bytes, () -> {}));
        }

        /** Flushes replies and continues to read requests, as {@code RespHandler} does. */
        @Override
        public void progress() {
            moreProgress = true;
            if (inProgress) {
                return;
            }
            inProgress = true;
            while (moreProgress) {
                moreProgress = false;
                if (replies.flush()) {
                    moreProgress = true;
                }
            }
            inProgress = false;
            take();
        }

        @Override
        public boolean inProgress() {
            return inProgress;
        }

        @Override
        public void ended(PendingReply reply, RequestOutcome outcome, long nanos) {
            ends.add((outcome == RequestOutcome.ABANDONED ? "abandoned " : "answered ")
                    + reply.command().text(0));
        }

        private void take() {
            for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
                taken.append(bytes.toString(US_ASCII));
                bytes.release();
            }
        }

        void check() {
            take();
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < requested; i++) {
                all.append(':').append(i).append("\r\n");
            }
            assertThat(all.toString()).as(name).startsWith(taken.toString());
            assertThat(ends.stream().map(end -> end.replaceFirst(".* ", "")))
                    .as(name + ": each request ends once")
                    .doesNotHaveDuplicates()
                    .hasSize(requested);
            if (!ended) {
                assertThat(taken).as(name).hasToString(all.toString());
            }
            assertThat(memory.replyBytes()).as(name).isZero();
            channel.finishAndReleaseAll();
        }
    }
}
