package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.simulator.Interleaver;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Simulates connections whose replies together exceed the memory for replies. A separate thread creates each reply when
 * memory is available. The connection's event loop writes the reply, and the client reads it late or never.
 */
final class ReplyMemoryInterleavings {
    private static final int LIMIT = 1_000;
    private static final int MAX_REPLY = 700;

    private final SplittableRandom random;
    private final Interleaver threads;
    private final EmbeddedChannel timer = new EmbeddedChannel();
    private final MemoryBudget budget =
            new MemoryBudget(TestLimits.of(1, LIMIT, LIMIT, Duration.ofSeconds(15), Duration.ZERO), timer.eventLoop());
    private final List<Client> clients = new ArrayList<>();

    private ReplyMemoryInterleavings(long seed, Interleaver threads) {
        this.random = new SplittableRandom(seed);
        this.threads = threads;
        timer.freezeTime();
    }

    static void explore(long seed) {
        try (Interleaver threads = new Interleaver(seed)) {
            new ReplyMemoryInterleavings(seed, threads).run();
        }
    }

    private void run() {
        int count = 2 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            Client client = new Client(i, i > 0 && random.nextInt(16) == 0);
            clients.add(client);
            client.begin();
        }
        // Each connection may exceed the limit by one reply and by the copy of that reply in the socket's buffer.
        threads.always(() -> assertThat(budget.replyBytes.get()).isBetween(0L, LIMIT + 2L * count * MAX_REPLY));
        threads.whenStuck(this::pass);
        threads.run();
        assertThat(budget.replyBytes.get())
                .isEqualTo(clients.stream()
                        .mapToLong(client -> client.memory.replyBytes())
                        .sum());
        clients.forEach(client -> client.channel.finishAndReleaseAll());
        assertThat(budget.replyBytes.get()).isZero();
        assertThat(clients.get(0).memory.room()).isTrue();
    }

    /** Advances the clock past the timeout, and returns whether a client was closed to free memory for others. */
    private boolean pass() {
        long before = budget.closedForReplies.sum();
        timer.advanceTimeBy(MemoryBudget.FULL_STALL_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        timer.runScheduledPendingTasks();
        return budget.closedForReplies.sum() > before;
    }

    private final class Client {
        final EmbeddedChannel channel = new EmbeddedChannel() {
            @Override
            protected void doWrite(ChannelOutboundBuffer buffer) throws Exception {
                if (takes) {
                    super.doWrite(buffer);
                }
            }
        };
        final ConnectionMemory memory = new ConnectionMemory(channel, budget);
        private final String name;
        private final boolean takesNothing;
        private boolean takes;
        private int toMake = 1 + random.nextInt(3);
        private int beingMade;
        private boolean looks = true;

        Client(int number, boolean takesNothing) {
            this.name = "client " + number;
            this.takesNothing = takesNothing;
            channel.pipeline().addLast(memory);
            memory.onRoom(() -> looks = true);
        }

        void begin() {
            threads.worker(
                    name + "'s loop", () -> channel.isOpen() && (channel.hasPendingTasks() || looks), this::turn);
            if (takesNothing) {
                return;
            }
            threads.thread(
                    name,
                    () -> Interleaver.await(toMake + " replies", () -> toMake + beingMade == 0 || !channel.isOpen()));
            if (random.nextInt(4) == 0) {
                threads.thread(name + "'s end", () -> channel.eventLoop().execute(channel::close));
            }
        }

        private void turn() {
            looks = false;
            channel.runPendingTasks();
            if (channel.isOpen() && toMake > 0 && beingMade == 0 && memory.room()) {
                int bytes = 1 + random.nextInt(MAX_REPLY);
                toMake--;
                beingMade++;
                threads.daemon(name + "'s reply", () -> {
                    memory.holdReply(bytes);
                    channel.eventLoop().execute(() -> write(bytes));
                });
            }
        }

        private void write(int bytes) {
            channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes]));
            memory.holdReply(-bytes);
            beingMade--;
            looks = true;
            if (!takesNothing) {
                threads.daemon(
                        name + "'s reading",
                        () -> channel.eventLoop().execute(() -> {
                            takes = true;
                            channel.unsafe().flush();
                            takes = false;
                            channel.releaseOutbound();
                        }));
            }
        }
    }
}
