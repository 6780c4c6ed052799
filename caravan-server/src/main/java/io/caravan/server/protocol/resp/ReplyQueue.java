package io.caravan.server.protocol.resp;

import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespVersion;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queues the replies of one connection. Replies may be completed in any order, but are written in the order of the
 * requests, several in one write. The queue writes nothing while the socket's own buffer is full. Replies that wait to
 * be written count toward the connection's {@linkplain #memory memory}. Used only on the event loop, except for {@link
 * #completed}.
 */
public final class ReplyQueue {
    /** Length at which a buffer is written, so that the size of a buffer does not depend on the number of replies. */
    private static final int WRITE_BYTES = 64 * 1024;

    private final Channel channel;
    private final EventLoop loop;
    private final Runnable progress;
    private final BooleanSupplier inProgress;
    private final ConnectionMemory memory;
    private final Queue<PendingReply> pending = new ArrayDeque<>();
    /** The replies completed by other threads that have not been marked as done yet. */
    private final Queue<PendingReply> completed = new ConcurrentLinkedQueue<>();
    /** Whether a task that will write the completed replies is scheduled. */
    private final AtomicBoolean delivers = new AtomicBoolean();

    private int pushes;
    private @Nullable ByteBuf buffer;
    private boolean closed;

    /**
     * Creates an empty queue.
     *
     * @param loop the event loop of the channel
     * @param progress runs on the event loop when replies were completed, and calls {@link #flush()}
     * @param inProgress returns, on the event loop, whether {@code progress} is running and will still flush
     */
    public ReplyQueue(
            Channel channel, EventLoop loop, ConnectionMemory memory, Runnable progress, BooleanSupplier inProgress) {
        this.channel = channel;
        this.loop = loop;
        this.progress = progress;
        this.inProgress = inProgress;
        this.memory = memory;
    }

    /** Adds a request's pending reply to the end of the queue, and returns the reply. */
    public PendingReply open(PendingReply reply) {
        pending.add(reply);
        return reply;
    }

    /** Adds a message after the replies to all requests so far, unless the connection is closed. */
    public void push(RespVersion protocol, Reply message) {
        if (!closed) {
            PendingReply push = new PendingReply(this, protocol, true);
            pending.add(push);
            pushes++;
            push.complete(message);
        }
    }

    public ConnectionMemory memory() {
        return memory;
    }

    /** Returns the number of requests whose replies have not been written. */
    public int size() {
        return pending.size() - pushes;
    }

    /** Whether all replies and messages have been written. */
    public boolean isEmpty() {
        return pending.isEmpty();
    }

    /**
     * Accepts a completed reply. If {@code progress} is running on this thread, the running call will write the reply.
     * Otherwise, a single task writes all replies that were completed before the task runs, because tasks and writes
     * are expensive.
     */
    void completed(PendingReply reply) {
        if (loop.inEventLoop()) {
            reply.markDone(System.nanoTime());
            if (inProgress.getAsBoolean()) {
                return;
            }
        } else {
            completed.add(reply);
        }
        if (!delivers.get() && delivers.compareAndSet(false, true)) {
            loop.execute(this::deliver);
        }
    }

    /** Marks all completed replies as done before writing any of them, so that they are written together. */
    private void deliver() {
        long nowNanos = System.nanoTime();
        delivers.set(false);
        for (PendingReply reply = completed.poll(); reply != null; reply = completed.poll()) {
            reply.markDone(nowNanos);
        }
        progress.run();
    }

    /** Continues writing, because a chunk was added or a reply was ended. */
    void changed() {
        progress.run();
    }

    /** Writes all replies that can be written now. Returns whether the queue has become shorter. */
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

    /** Writes the oldest reply, or a chunk of it. Returns false if neither is available. */
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
            // From here on, the connection's memory counts the chunk as written data.
            memory.holdReply(-bytes);
            return true;
        }
        if (!head.done()) {
            return false;
        }
        pending.remove();
        if (head.push) {
            pushes--;
        }
        Reply reply = head.reply();
        if (reply != null) {
            encode(reply, head.protocol);
            head.hold(0);
        }
        return true;
    }

    private void encode(Reply reply, RespVersion protocol) {
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
        if (buffer != null) {
            // The buffer remains only if the encoding of a reply has failed.
            buffer.release();
            buffer = null;
        }
    }
}
