package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the order in which connections may continue to read while the memory for requests is full. */
class RequestMemoryTest {
    private static final int LIMIT = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final EmbeddedChannel timer = new EmbeddedChannel();
    private final MemoryBudget budget = new MemoryBudget(
            TestLimits.of(1, LIMIT, LIMIT, TIMEOUT.multipliedBy(15), Duration.ZERO), timer.eventLoop());

    /** A connection that replies to each request as soon as it is complete. */
    private final class Client {
        final EmbeddedChannel channel = new EmbeddedChannel();
        final ConnectionMemory memory = new ConnectionMemory(channel, budget);
        boolean reads;

        Client() {
            memory.onRoom(() -> reads = memory.mayRead());
            memory.onIdle(channel::close);
            channel.pipeline().addLast(memory);
        }

        /** Sends bytes, the last {@code unfinished} of which belong to an incomplete request. */
        void send(int bytes, boolean requestArrived, int unfinished) {
            channel.writeOneInbound(Unpooled.wrappedBuffer(new byte[bytes]));
            if (requestArrived) {
                memory.requestArrived();
            }
            memory.settle(unfinished, true);
            reads = memory.mayRead();
        }

        /** Sends part of a request to the server. The server continues to read only if the memory allows it. */
        void begin(int bytes) {
            send(bytes, false, (int) memory.requestBytes() + bytes);
        }

        boolean open() {
            channel.runPendingTasks();
            return channel.isOpen();
        }

        boolean reads() {
            channel.runPendingTasks();
            return reads;
        }
    }

    @Test
    void greedyClientDoesNotStarveOthers() {
        Client greedy = new Client();
        Client second = new Client();
        Client third = new Client();
        greedy.send(LIMIT, false, LIMIT);
        second.send(10, false, 10);
        third.send(10, false, 10);
        assertThat(greedy.reads()).isTrue();
        assertThat(second.reads()).isFalse();
        assertThat(third.reads()).isFalse();

        greedy.send(LIMIT, true, LIMIT);
        assertThat(greedy.reads()).isFalse();
        assertThat(second.reads()).isTrue();
        assertThat(third.reads()).isFalse();

        second.send(10, true, 10);
        assertThat(greedy.reads()).isFalse();
        assertThat(second.reads()).isFalse();
        assertThat(third.reads()).isTrue();

        third.send(10, true, 0);
        assertThat(greedy.reads()).isTrue();
        assertThat(second.reads()).isFalse();
    }

    @Test
    void continuedRequestKeepsItsTurn() {
        Client first = new Client();
        Client second = new Client();
        first.send(LIMIT, false, LIMIT);
        second.send(10, false, 10);
        first.send(10, false, LIMIT + 10);
        assertThat(first.reads()).isTrue();
        assertThat(second.reads()).isFalse();
    }

    @Test
    void closedClientReleasesTurnAndMemory() {
        Client holder = new Client();
        Client first = new Client();
        Client leaving = new Client();
        Client last = new Client();
        holder.send(LIMIT, false, LIMIT);
        first.send(LIMIT, false, LIMIT);
        leaving.send(10, false, 10);
        last.send(10, false, 10);
        leaving.channel.close();
        holder.channel.close();
        assertThat(first.reads()).isTrue();
        assertThat(last.reads()).isFalse();
        first.channel.close();
        assertThat(last.reads()).isTrue();
        assertThat(budget.requestBytes.get()).isEqualTo(10);
    }

    @BeforeEach
    void freeze() {
        timer.freezeTime();
    }

    private void pass(Duration time) {
        timer.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        timer.runScheduledPendingTasks();
    }

    @Test
    void countsDecodedRequestMemory() {
        Client client = new Client();
        client.send(10, true, 10);
        client.memory.hold(50);
        assertThat(budget.requestBytes.get()).isEqualTo(60);
        assertThat(client.memory.mayDecode()).isTrue();
        client.memory.hold(LIMIT);
        assertThat(client.memory.mayDecode()).isFalse();
        client.memory.settle(0, true);
        assertThat(client.memory.mayDecode()).isTrue();
        assertThat(budget.requestBytes.get()).isZero();
    }

    @Test
    void grantsDecodingMemoryToOneClientWhenFull() {
        Client first = new Client();
        Client second = new Client();
        first.begin(LIMIT / 2);
        second.begin(LIMIT / 2);
        assertThat(first.memory.tryHold(10)).isFalse();
        assertThat(second.memory.tryHold(10)).isTrue();
        assertThat(budget.requestBytes.get()).isEqualTo(LIMIT + 10);
    }

    /** A delayed request must resume as soon as memory is freed, because no further bytes would arrive to resume it. */
    @Test
    void delayedRequestResumesWhenMemoryIsFreed() {
        Client holder = new Client();
        Client other = new Client();
        Client delayed = new Client();
        holder.begin(LIMIT / 2);
        delayed.begin(10);
        assertThat(delayed.reads()).isTrue();
        other.begin(LIMIT / 2);
        holder.begin(1);
        delayed.reads = false;
        assertThat(delayed.memory.mayDecode()).isFalse();
        other.channel.close();
        holder.channel.close();
        assertThat(delayed.reads()).isTrue();
    }

    @Test
    void readsSmallRequestsWhileLargeOnesFillMemory() {
        Client large = new Client();
        Client alsoLarge = new Client();
        large.begin(LIMIT * 3 / 8);
        alsoLarge.begin(LIMIT * 3 / 8 + 1);
        assertThat(budget.hasRoom(LIMIT)).isFalse();
        Client small = new Client();
        small.begin(1);
        assertThat(small.reads()).isTrue();
        small.begin(LIMIT / 8);
        assertThat(small.reads()).isFalse();
        Client another = new Client();
        assertThat(another.memory.mayRead()).isTrue();
    }

    @Test
    void closesLargestStalledRequestWhenMemoryIsNeeded() {
        Client largest = new Client();
        Client smaller = new Client();
        Client working = new Client();
        largest.begin(LIMIT / 2);
        smaller.begin(LIMIT / 4 - 1);
        pass(TIMEOUT);
        pass(TIMEOUT);
        assertThat(largest.open()).isTrue();

        working.send(LIMIT / 2, true, 0);
        working.begin(10);
        pass(TIMEOUT);
        assertThat(largest.open()).isFalse();
        assertThat(smaller.open()).isTrue();
        assertThat(working.open()).isTrue();
        assertThat(budget.closedForRequests.sum()).isOne();
        assertThat(working.reads()).isTrue();
    }

    @Test
    void closesStalledExemptConnection() {
        Client holder = new Client();
        Client next = new Client();
        holder.begin(LIMIT);
        next.begin(10);
        assertThat(next.reads()).isFalse();
        pass(TIMEOUT);
        assertThat(holder.open()).isFalse();
        assertThat(next.open()).isTrue();
        assertThat(next.reads()).isTrue();
    }

    /** Input must be discarded after its connection is closed, because TLS may still deliver decrypted bytes. */
    @Test
    void discardsInputAfterClose() {
        Client ended = new Client();
        ended.begin(10);
        ended.memory.close();
        ended.channel.writeOneInbound(Unpooled.wrappedBuffer(new byte[20]));
        assertThat((Object) ended.channel.readInbound())
                .as("passed on before the end")
                .isNotNull();
        assertThat((Object) ended.channel.readInbound())
                .as("passed on after it")
                .isNull();
        ended.channel.close();
        assertThat(budget.requestBytes.get()).isZero();
    }

    /** A connection allowed over the limit must lose this right if its small request waits, for example for a value. */
    @Test
    void exemptConnectionYieldsItsTurnWhenItsSmallRequestWaits() {
        Client waits = new Client();
        Client next = new Client();
        new Client().memory.hold(LIMIT);
        waits.begin(1);
        assertThat(waits.reads()).isTrue();
        waits.memory.requestArrived();
        waits.memory.mayRead();
        next.begin(10);
        assertThat(next.reads()).isFalse();
        pass(TIMEOUT);
        assertThat(next.reads()).isTrue();
        assertThat(waits.open()).as("it holds little").isTrue();
    }

    /** A connection allowed over the limit must keep this right if its large request waits, or all could exceed it. */
    @Test
    void exemptConnectionKeepsItsTurnWhenItsLargeRequestWaits() {
        Client waits = new Client();
        Client next = new Client();
        new Client().memory.hold(LIMIT);
        waits.begin(10);
        assertThat(waits.reads()).isTrue();
        waits.memory.requestArrived();
        waits.memory.mayRead();
        next.begin(10);
        pass(TIMEOUT);
        assertThat(next.reads()).isFalse();
    }

    @Test
    void keepsConnectionThatWaitsForServer() {
        Client waits = new Client();
        waits.channel.writeOneInbound(Unpooled.wrappedBuffer(new byte[LIMIT]));
        waits.memory.requestArrived();
        waits.memory.mayRead();
        pass(TIMEOUT);
        pass(TIMEOUT);
        assertThat(waits.open()).isTrue();
        waits.memory.waitingFor(TIMEOUT::toNanos);
        pass(TIMEOUT);
        assertThat(waits.open()).isFalse();
        assertThat(budget.requestBytes.get()).isZero();
    }
}
