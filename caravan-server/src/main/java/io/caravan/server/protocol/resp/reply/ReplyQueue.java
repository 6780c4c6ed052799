package io.caravan.server.protocol.resp.reply;

import io.caravan.server.net.AnswerMemory;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one connection, in the order of its requests. They are given in any order and written in this one,
 * many in one write; nothing is written while the socket's own buffer is full. What waits to be written is counted, and
 * whoever asks for more answers asks first whether that is {@link #full too much}, or all connections together have
 * {@linkplain AnswerMemory#room no room}. Used only on the event loop, except for {@link #completed}, {@link #hold} and
 * {@link #full}.
 */
public final class ReplyQueue {
    /** A write is cut here, so that a buffer does not grow with the number of answers. */
    private static final int WRITE_BYTES = 64 * 1024;
    /** What answers may take in memory, about, until they are written. */
    private static final int FULL_BYTES = 1024 * 1024;

    private final Channel channel;
    private final CompletionInbox inbox;
    private final Runnable progress;
    private final BooleanSupplier inProgress;
    private final AnswerMemory answers;
    private final Queue<PendingReply> pending = new ArrayDeque<>();
    private final AtomicLong heldBytes = new AtomicLong();
    /** The part of {@link #heldBytes} that nobody asked for. */
    private final AtomicLong pushedBytes = new AtomicLong();

    private int pushes;
    private @Nullable ByteBuf buffer;
    private boolean changed;
    private boolean closed;

    /**
     * Makes an empty queue.
     *
     * @param answers is told what the answers take
     * @param progress is run on the event loop when answers have come in; it calls {@link #flush()}
     * @param inProgress tells, on the event loop, whether {@code progress} is running, and will yet flush
     */
    public ReplyQueue(
            Channel channel,
            CompletionInbox inbox,
            AnswerMemory answers,
            Runnable progress,
            BooleanSupplier inProgress) {
        this.channel = channel;
        this.inbox = inbox;
        this.progress = progress;
        this.inProgress = inProgress;
        this.answers = answers;
    }

    /** Takes a place for the answer to the next request, in the version that the connection speaks now. */
    public PendingReply open(Protocol protocol, PendingReply.Observer observer) {
        PendingReply reply = new PendingReply(this, protocol, observer);
        pending.add(reply);
        return reply;
    }

    /**
     * Adds what nobody asked for behind the answers to all that came, unless the connection is gone. It may wait for an
     * answer that is still to be asked for, and so never keeps the connection from asking.
     */
    public void push(Protocol protocol, Reply message) {
        if (!closed) {
            PendingReply push = PendingReply.push(this, protocol);
            pending.add(push);
            pushes++;
            pushedBytes.addAndGet(message.heldBytes());
            push.complete(message);
        }
    }

    /** Counts what is to be {@link #push pushed} until it is; on any thread. */
    public void holdPush(long bytes) {
        pushedBytes.addAndGet(bytes);
        hold(bytes);
    }

    /** Counts what an answer, or a piece of one, takes in memory until it is written; on any thread. */
    public void hold(long bytes) {
        heldBytes.addAndGet(bytes);
        answers.hold(bytes);
    }

    /** Whether no more answers should be asked for until some have been written; on any thread. */
    public boolean full() {
        return heldBytes.get() - pushedBytes.get() >= FULL_BYTES;
    }

    /** What the answers take in memory that wait to be written, about; on any thread. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** What the answers are counted in, which says whether there is room for more. */
    public AnswerMemory answers() {
        return answers;
    }

    /** Number of requests whose answers are not written. */
    public int size() {
        return pending.size() - pushes;
    }

    /** Whether all is written. */
    public boolean isEmpty() {
        return pending.isEmpty();
    }

    /** An answer has been given. What the connection's own progress gives it also writes; anything else is written soon. */
    void completed(PendingReply reply) {
        if (inbox.inEventLoop() && inProgress.getAsBoolean()) {
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

    /** Writes what has come of the oldest answer; returns false when that is nothing. */
    private boolean writeHead() {
        PendingReply head = pending.peek();
        if (head == null) {
            return false;
        }
        PendingReply.Piece piece = head.pollPiece();
        if (piece != null) {
            writeBuffer();
            channel.write(piece.bytes()).addListener(written -> pieceTaken(piece));
            // From here on it is counted as what is written.
            answers.hold(-piece.heldBytes());
            return true;
        }
        if (!head.done()) {
            return false;
        }
        pending.remove();
        if (head.isPush()) {
            pushes--;
            pushedBytes.addAndGet(-head.heldBytes());
        }
        Reply reply = head.reply();
        if (reply != null) {
            encode(reply, head.protocol());
            hold(-head.heldBytes());
        }
        return true;
    }

    private void pieceTaken(PendingReply.Piece piece) {
        boolean wasFull = full();
        heldBytes.addAndGet(-piece.heldBytes());
        piece.gone().run();
        if (wasFull && !full() && !closed) {
            progress.run();
        }
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

    /** Drops all answers: the connection is gone. */
    public void close() {
        closed = true;
        for (PendingReply reply : pending) {
            for (var piece = reply.pollPiece(); piece != null; piece = reply.pollPiece()) {
                piece.drop();
            }
            reply.abandon();
        }
        pending.clear();
    }
}
