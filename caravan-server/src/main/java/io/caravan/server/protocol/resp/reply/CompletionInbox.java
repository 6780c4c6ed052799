package io.caravan.server.protocol.resp.reply;

import io.netty.channel.EventLoop;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Passes replies to one event loop, from other threads or from other work of the loop. One task delivers all replies
 * that have gathered, because waking the loop costs more than a reply.
 *
 * <p>Producers push onto a stack, which the loop takes in one step. Its order does not matter, because each reply has
 * its place in its connection's {@link ReplyQueue}. The producer that pushes onto the empty stack schedules the task.
 */
public final class CompletionInbox {
    private final EventLoop loop;
    private final AtomicReference<@Nullable PendingReply> top = new AtomicReference<>();

    public CompletionInbox(EventLoop loop) {
        this.loop = loop;
    }

    boolean inEventLoop() {
        return loop.inEventLoop();
    }

    /** Adds a reply that has been completed. */
    void add(PendingReply reply) {
        PendingReply below;
        do {
            below = top.get();
            reply.nextCompleted = below;
        } while (!top.compareAndSet(below, reply));
        if (below == null) {
            loop.execute(this::deliver);
        }
    }

    /** Marks every reply as done before it writes any, so that a connection's replies are written together. */
    private void deliver() {
        PendingReply all = top.getAndSet(null);
        for (PendingReply reply = all; reply != null; reply = reply.nextCompleted) {
            reply.markDone();
            reply.queue().markChanged();
        }
        PendingReply reply = all;
        while (reply != null) {
            PendingReply next = reply.nextCompleted;
            reply.nextCompleted = null;
            reply.queue().progressIfChanged();
            reply = next;
        }
    }
}
