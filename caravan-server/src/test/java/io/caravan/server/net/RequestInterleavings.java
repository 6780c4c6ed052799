package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.simulator.Interleaver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Simulates connections whose requests together exceed the memory for requests. Each connection has its own event loop
 * and uses its memory as {@code RespHandler} does. Some connections end before they get their replies, and some clients
 * send only part of their last request.
 */
final class RequestInterleavings {
    private static final int LIMIT = 256;
    private static final int CONNECTION_LIMIT = 150;
    private static final int MAX_REQUEST = 300;
    private static final int MAX_READ = 100;
    private static final int MAX_PENDING = 2;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    /** The number of bytes by which a connection may exceed a limit if admitted just before the limit is reached. */
    private static final int PASSED_BY = 2 * MAX_READ + MAX_REQUEST;

    private final SplittableRandom random;
    private final Interleaver threads;
    private final EmbeddedChannel timer = new EmbeddedChannel();
    private final MemoryBudget budget = new MemoryBudget(
            TestLimits.of(1, CONNECTION_LIMIT, LIMIT, TIMEOUT.multipliedBy(15), Duration.ZERO), timer.eventLoop());
    private final List<Client> clients = new ArrayList<>();

    private RequestInterleavings(long seed, Interleaver threads) {
        this.random = new SplittableRandom(seed);
        this.threads = threads;
        timer.freezeTime();
    }

    static void explore(long seed) {
        try (Interleaver threads = new Interleaver(seed)) {
            new RequestInterleavings(seed, threads).run();
        }
    }

    private void run() {
        int count = 3 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            Client client = new Client(i, i > 0 && random.nextInt(4) == 0);
            clients.add(client);
            client.begin();
        }
        threads.always(() -> assertThat(budget.requestBytes.get()).isBetween(0L, (long) LIMIT + count * PASSED_BY));
        threads.whenStuck(this::pass);
        threads.run();
        assertThat(budget.requestBytes.get())
                .isEqualTo(clients.stream()
                        .mapToLong(client -> client.memory.requestBytes())
                        .sum());
        clients.forEach(client -> client.channel.close());
        assertThat(budget.requestBytes.get()).isZero();
    }

    /** Advances the clock past the timeout, and returns whether a client was closed to free memory for others. */
    private boolean pass() {
        long before = budget.closedForRequests.sum();
        timer.advanceTimeBy(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        timer.runScheduledPendingTasks();
        return budget.closedForRequests.sum() > before;
    }

    private final class Client {
        final EmbeddedChannel channel = new EmbeddedChannel();
        final ConnectionMemory memory = new ConnectionMemory(channel, budget);
        private final String name;
        private final boolean stopsHalfway;
        private final boolean leaves = random.nextInt(4) == 0;
        private final int[] requests = new int[1 + random.nextInt(3)];
        private int toSend;
        private boolean reads = true;
        /** The index of the next request to decode. */
        private int next;

        private int unfinished;
        private boolean granted;
        private boolean heldBack;
        private int pending;
        private int replied;

        Client(int number, boolean stopsHalfway) {
            this.name = "client " + number;
            this.stopsHalfway = stopsHalfway;
            for (int i = 0; i < requests.length; i++) {
                requests[i] = 1 + random.nextInt(random.nextInt(4) == 0 ? 10 : MAX_REQUEST);
                toSend += requests[i];
            }
            if (stopsHalfway) {
                toSend -= 1 + random.nextInt(requests[requests.length - 1]);
            }
            memory.onRoom(this::progress);
            memory.onIdle(channel::close);
            channel.pipeline().addLast(memory, new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
                    unfinished += bytes.readableBytes();
                    decode();
                }
            });
        }

        void begin() {
            threads.worker(
                    name + "'s loop",
                    () -> channel.isOpen() && (channel.hasPendingTasks() || reads && toSend > 0),
                    this::turn);
            if (!stopsHalfway) {
                threads.thread(
                        name,
                        () -> Interleaver.await(this + "", () -> replied == requests.length || !channel.isOpen()));
            }
            if (leaves) {
                threads.thread(name + "'s end", () -> {
                    Interleaver.await("its time", () -> true);
                    channel.eventLoop().execute(channel::close);
                });
            }
        }

        private void turn() {
            channel.runPendingTasks();
            channel.config().setAutoRead(reads);
            while (channel.isOpen() && toSend > 0 && channel.config().isAutoRead()) {
                int came = Math.min(toSend, 1 + random.nextInt(MAX_READ));
                toSend -= came;
                channel.writeOneInbound(Unpooled.wrappedBuffer(new byte[came]));
                if (random.nextBoolean()) {
                    break;
                }
            }
            progress();
        }

        private boolean mustWait() {
            return pending >= MAX_PENDING;
        }

        private boolean decode() {
            int before = next;
            heldBack = false;
            while (next < requests.length && unfinished > 0) {
                int length = requests[next];
                if (!granted && (mustWait() || !memory.mayDecode())
                        || !granted && unfinished >= length / 2 && !memory.tryHold(length / 2)) {
                    heldBack = true;
                    break;
                }
                granted |= unfinished >= length / 2;
                if (unfinished < length) {
                    break;
                }
                unfinished -= length;
                granted = false;
                next++;
                pending++;
                memory.requestArrived();
                threads.daemon(name + "'s reply", () -> channel.eventLoop().execute(this::reply));
            }
            return next > before;
        }

        private void reply() {
            pending--;
            replied++;
            progress();
        }

        /** Decodes requests, settles their memory, and resumes reading, as {@code RespHandler} does. */
        private void progress() {
            boolean more = channel.isOpen();
            while (more) {
                more = decode();
                if (!more) {
                    if (pending == 0) {
                        memory.settle(unfinished, !heldBack || !mustWait());
                    }
                    reads = !mustWait() && memory.mayRead();
                    more = reads && heldBack && memory.mayDecode();
                }
            }
        }

        @Override
        public String toString() {
            return replied + " of " + requests.length + " replies, or room for " + (toSend + unfinished) + " bytes";
        }
    }
}
