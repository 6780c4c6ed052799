package io.caravan.server.protocol.resp.reply;

import io.netty.channel.EventLoop;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Carries answers from other threads, or from other work of the loop's, to one event loop: one task for all that have gathered, however many, because
 * waking the loop costs more than an answer.
 *
 * <p>A stack that producers push to and the loop takes whole. Its order does not matter, because each answer has its
 * place in its connection's {@link ReplyQueue}. Whoever pushes onto the empty stack schedules the task.
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

    /** Passes on an answer that has been given. */
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

    /** First marks every answer, then writes: a connection's answers go out together. */
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
