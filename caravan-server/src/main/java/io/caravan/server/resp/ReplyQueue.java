package io.caravan.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one connection, in the order of its requests. They are given in any order and written in this one, many
 * in one write; nothing is written while the socket's own buffer is full. The event loop's alone, but for {@link
 * #completed}.
 */
final class ReplyQueue {
    /** A write is cut here, so that a buffer does not grow with the number of answers. */
    private static final int WRITE_BYTES = 64 * 1024;

    private final Channel channel;
    private final CompletionInbox inbox;
    private final Runnable progress;
    private final Queue<PendingReply> pending = new ArrayDeque<>();
    private @Nullable ByteBuf buffer;
    private boolean changed;
    private boolean closed;

    /**
     * Makes an empty queue.
     *
     * @param progress is run on the event loop when answers have come in; it calls {@link #flush()}
     */
    ReplyQueue(Channel channel, CompletionInbox inbox, Runnable progress) {
        this.channel = channel;
        this.inbox = inbox;
        this.progress = progress;
    }

    /** Takes a place for the answer to the next request, in the version that the connection speaks now. */
    PendingReply open(Protocol protocol) {
        PendingReply reply = new PendingReply(this, protocol);
        pending.add(reply);
        return reply;
    }

    /** Number of places whose answers are not written. */
    int size() {
        return pending.size();
    }

    /**
     * An answer has been given. On the event loop it is written with the next {@link #flush()}; on any other thread, soon.
     */
    void completed(PendingReply reply) {
        if (inbox.inEventLoop()) {
            reply.markDone();
        } else {
            inbox.add(reply);
        }
    }

    void markChanged() {
        changed = true;
    }

    void progressIfChanged() {
        if (changed) {
            changed = false;
            progress.run();
        }
    }

    /** Part of an answer has come in. */
    void changed() {
        progress.run();
    }

    /** Writes all answers that can be written now; returns whether places have become free. */
    boolean flush() {
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

    /** Writes what there is of the oldest answer; returns false when that is nothing. */
    private boolean writeHead() {
        PendingReply head = pending.peek();
        if (head == null) {
            return false;
        }
        PendingReply.Piece piece = head.pollPiece();
        if (piece != null) {
            writeBuffer();
            channel.write(piece.bytes()).addListener(written -> piece.gone().run());
            return true;
        }
        if (!head.done()) {
            return false;
        }
        pending.remove();
        Reply reply = head.reply();
        if (reply != null) {
            encode(reply, head.protocol());
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
            channel.write(full, channel.voidPromise());
        }
    }

    boolean closed() {
        return closed;
    }

    /** Forgets all answers: the connection is gone. */
    void close() {
        closed = true;
        for (PendingReply reply : pending) {
            for (var piece = reply.pollPiece(); piece != null; piece = reply.pollPiece()) {
                piece.drop();
            }
        }
        pending.clear();
    }
}
