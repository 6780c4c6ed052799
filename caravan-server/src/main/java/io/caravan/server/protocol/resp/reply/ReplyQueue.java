package io.caravan.server.protocol.resp.reply;

import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The replies of one connection, in the order of its requests. They are completed in any order and written in this one,
 * many in one write. Nothing is written while the socket's own buffer is full. Replies that wait to be written count in
 * the connection's {@linkplain #memory memory}. Used only on the event loop, except for {@link #completed}.
 */
public final class ReplyQueue {
    /** Length at which a write is cut, so that the buffer does not grow with the number of replies. */
    private static final int WRITE_BYTES = 64 * 1024;

    private final Channel channel;
    private final Inbox inbox;
    private final Runnable progress;
    private final BooleanSupplier inProgress;
    private final ConnectionMemory memory;
    private final Queue<PendingReply> pending = new ArrayDeque<>();

    private int pushes;
    private @Nullable ByteBuf buffer;
    /** Whether replies have arrived in {@link Inbox#deliver} that may now be written. */
    private boolean changed;

    private boolean closed;

    /**
     * Passes replies to one event loop, from other threads or from other work of the loop. One task delivers all replies
     * that have gathered, because waking the loop costs more than a reply.
     *
     * <p>Producers push onto a stack, which the loop takes in one step. Its order does not matter, because each reply
     * has its place in its queue. The producer that pushes onto the empty stack schedules the task.
     */
    public static final class Inbox {
        private final EventLoop loop;
        private final AtomicReference<@Nullable PendingReply> top = new AtomicReference<>();

        public Inbox(EventLoop loop) {
            this.loop = loop;
        }

        private void add(PendingReply reply) {
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
                reply.queue().changed = true;
            }
            PendingReply reply = all;
            while (reply != null) {
                PendingReply next = reply.nextCompleted;
                reply.nextCompleted = null;
                ReplyQueue queue = reply.queue();
                if (queue.changed) {
                    queue.changed = false;
                    queue.progress.run();
                }
                reply = next;
            }
        }
    }

    /**
     * Creates an empty queue.
     *
     * @param progress runs on the event loop when replies have arrived; it calls {@link #flush()}
     * @param inProgress returns, on the event loop, whether {@code progress} is running and will still flush
     */
    public ReplyQueue(
            Channel channel, Inbox inbox, ConnectionMemory memory, Runnable progress, BooleanSupplier inProgress) {
        this.channel = channel;
        this.inbox = inbox;
        this.progress = progress;
        this.inProgress = inProgress;
        this.memory = memory;
    }

    /** Adds a place for the reply to the next request, in the version that the connection speaks now. */
    public PendingReply open(Protocol protocol, PendingReply.Observer observer) {
        PendingReply reply = new PendingReply(this, protocol, observer, false);
        pending.add(reply);
        return reply;
    }

    /** Adds a message after the replies to all requests so far, unless the connection is closed. */
    public void push(Protocol protocol, Reply message) {
        if (!closed) {
            PendingReply push = new PendingReply(this, protocol, new PendingReply.Observer() {}, true);
            pending.add(push);
            pushes++;
            push.complete(message);
        }
    }

    /** Returns the memory of the connection. */
    public ConnectionMemory memory() {
        return memory;
    }

    /** Returns the number of requests whose replies have not been written. */
    public int size() {
        return pending.size() - pushes;
    }

    /** Whether everything has been written. */
    public boolean isEmpty() {
        return pending.isEmpty();
    }

    /**
     * Accepts a completed reply. If the connection's own progress completes it, that also writes it; otherwise it is
     * written soon.
     */
    void completed(PendingReply reply) {
        if (inbox.loop.inEventLoop() && inProgress.getAsBoolean()) {
            reply.markDone();
        } else {
            inbox.add(reply);
        }
    }

    /** Continues the connection after a chunk was added or a reply has ended. */
    void changed() {
        progress.run();
    }

    /** Writes all replies that can be written now; returns whether the queue has become shorter. */
    public boolean flush() {
        int before = pending.size();
        boolean wrote = false;
        while (!closed && channel.isWritable() && writeHead()) {
            wrote = true;
        }
        writeBuffer();
        if (wrote) {
            channel.flush();
        }
        return pending.size() < before;
    }

    /** Writes the available data of the oldest reply; returns false if it has none. */
    private boolean writeHead() {
        PendingReply head = pending.peek();
        if (head == null) {
            return false;
        }
        PendingReply.Piece piece = head.pollPiece();
        if (piece != null) {
            writeBuffer();
            int bytes = piece.bytes().capacity();
            channel.write(piece.bytes()).addListener(written -> piece.gone().run());
            // From here on, the memory counts it as written data.
            memory.holdReply(-bytes);
            return true;
        }
        if (!head.done()) {
            return false;
        }
        pending.remove();
        if (head.isPush()) {
            pushes--;
        }
        Reply reply = head.reply();
        if (reply != null) {
            encode(reply, head.protocol());
            head.hold(0);
        }
        return true;
    }

    private void encode(Reply reply, Protocol protocol) {
        if (buffer == null) {
            buffer = channel.alloc().ioBuffer();
        }
        reply.encode(buffer, protocol);
        if (buffer.readableBytes() >= WRITE_BYTES) {
            writeBuffer();
        }
    }

    private void writeBuffer() {
        if (buffer != null) {
            ByteBuf full = buffer;
            buffer = null;
            channel.write(full);
        }
    }

    boolean closed() {
        return closed;
    }

    /** Drops all replies, because the connection is closed. */
    public void close() {
        closed = true;
        pending.forEach(PendingReply::abandon);
        pending.clear();
    }
}
