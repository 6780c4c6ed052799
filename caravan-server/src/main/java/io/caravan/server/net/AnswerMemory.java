package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one connection's replies until the client has received them. Counts what is written; the protocol
 * counts what it {@linkplain #hold holds} in addition, and checks for {@linkplain #room space} before it creates a
 * reply that may be large. Thread-safe, except for methods that are for the event loop only.
 */
public final class AnswerMemory extends ChannelDuplexHandler {
    private static final Logger LOG = LoggerFactory.getLogger(AnswerMemory.class);
    /** A connection that holds less gets small replies even when the budget is spent, so that its writes continue. */
    private static final int LITTLE_BYTES = 4 * 1024;

    private final Channel channel;
    private final AnswerBudget budget;
    private final WaitBudget.Share waits;
    private Runnable onRoom = () -> {};
    private boolean awaitingRoom;
    private long heldBytes;
    private long changedNanos;
    private final Queue<Runnable> whenRoom = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    AnswerMemory(Channel channel, AnswerBudget budget) {
        this.channel = channel;
        this.budget = budget;
        this.waits = budget.waits().share(channel);
        budget.opened(this);
    }

    /** Returns the connection's share of the memory for what its client waits for, and whose replies come later. */
    public WaitBudget.Share waits() {
        return waits;
    }

    /**
     * Sets the action that runs, on the event loop, when {@link #roomOrWake} or {@link #mayAnswer} should be called
     * again.
     */
    public void onRoom(Runnable action) {
        onRoom = action;
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            int taken = bytes.capacity();
            hold(taken);
            context.write(message, promise.unvoid().addListener(written -> hold(-taken)));
        } else {
            context.write(message, promise);
        }
    }

    /** Counts the bytes of a part of a reply; a negative number releases them. */
    public synchronized void hold(long bytes) {
        if (!closed) {
            heldBytes += bytes;
            changedNanos = budget.nanoTime();
            // Under the lock; otherwise the end of the connection could release bytes that are not counted yet.
            budget.add(bytes);
        }
    }

    public synchronized long heldBytes() {
        return heldBytes;
    }

    synchronized boolean stalledSince(long nanos) {
        return heldBytes > 0 && changedNanos - nanos <= 0;
    }

    /** Whether the budget of all connections has space. */
    public boolean room() {
        return !budget.spent();
    }

    /**
     * The same as {@link #room}; if the budget has no space, the action of {@link #onRoom} runs when it has. For the
     * event loop only.
     */
    public boolean roomOrWake() {
        if (room()) {
            return true;
        }
        if (!awaitingRoom) {
            awaitingRoom = true;
            whenRoom(() -> {
                awaitingRoom = false;
                onRoom.run();
            });
        }
        return false;
    }

    /**
     * Whether a small reply may be created: the budget has space, or this connection holds little. For the event loop
     * only.
     */
    public boolean mayAnswer() {
        return holdsLittle() || roomOrWake();
    }

    /**
     * Whether this number of bytes may be sent without a request: the budget has space, or this connection holds little
     * with them. Callable on any thread.
     */
    public boolean mayTell(long bytes) {
        return heldBytes() + bytes < LITTLE_BYTES || room();
    }

    private boolean holdsLittle() {
        return heldBytes() < LITTLE_BYTES;
    }

    /** Runs the action on the event loop once the budget has space, unless the connection has closed by then. */
    public void whenRoom(Runnable action) {
        whenRoom.add(action);
        budget.await(this);
        if (closed) {
            stopWaiting();
        }
    }

    /**
     * Runs the waiting actions, because the budget may have space. Callable on any thread, which may hold the lock of
     * another connection.
     */
    void wake() {
        for (Runnable next = whenRoom.poll(); next != null; next = whenRoom.poll()) {
            if (channel.isActive()) {
                channel.eventLoop().execute(next);
            }
        }
    }

    private void stopWaiting() {
        whenRoom.clear();
        budget.closed(this);
    }

    /** Closes the connection: its client receives nothing while others wait for the memory that it holds. */
    void closeStalled() {
        LOG.warn(
                "closing {}: it has taken nothing of {} bytes of answers for {}, and the answers of all connections are at"
                        + " their limit",
                channel.remoteAddress(),
                heldBytes(),
                AnswerBudget.PATIENCE);
        channel.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        context.fireChannelInactive();
        long given;
        synchronized (this) {
            closed = true;
            given = heldBytes;
            heldBytes = 0;
        }
        stopWaiting();
        budget.add(-given);
        waits.close();
    }
}
