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
 * The replies of one connection, in the order of its requests. They are completed in any order and written in this one,
 * many in one write. Nothing is written while the socket's own buffer is full.
 *
 * <p>The queue counts the memory of replies that wait to be written. Before a caller requests more replies, it checks
 * that this memory is not {@link #full too much}, and that all connections together have {@linkplain AnswerMemory#room
 * space}. Used only on the event loop, except for {@link #completed} and the methods that are marked as usable on any
 * thread.
 */
public final class ReplyQueue {
    /** Length at which a write is cut, so that the buffer does not grow with the number of replies. */
    private static final int WRITE_BYTES = 64 * 1024;
    /** Approximate memory that replies may take until they are written. */
    private static final int FULL_BYTES = 1024 * 1024;

    private final Channel channel;
    private final CompletionInbox inbox;
    private final Runnable progress;
    private final BooleanSupplier inProgress;
    private final AnswerMemory answers;
    private final Queue<PendingReply> pending = new ArrayDeque<>();
    private final AtomicLong heldBytes = new AtomicLong();
    /** The part of {@link #heldBytes} that push messages take. */
    private final AtomicLong pushedBytes = new AtomicLong();

    private int pushes;
    private @Nullable ByteBuf buffer;
    private boolean changed;
    private boolean closed;

    /**
     * Creates an empty queue.
     *
     * @param answers counts the memory of the replies
     * @param progress runs on the event loop when replies have arrived; it calls {@link #flush()}
     * @param inProgress returns, on the event loop, whether {@code progress} is running and will still flush
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

    /** Adds a place for the reply to the next request, in the version that the connection speaks now. */
    public PendingReply open(Protocol protocol, PendingReply.Observer observer) {
        PendingReply reply = new PendingReply(this, protocol, observer);
        pending.add(reply);
        return reply;
    }

    /**
     * Adds a message after the replies to all requests so far, unless the connection is closed. The message may wait
     * for a reply that has yet to be produced, so it does not count toward {@link #full}, which would prevent that
     * reply.
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

    /**
     * Counts the memory of a message until it is {@link #push pushed}, or, with a negative number, releases it; on any
     * thread.
     */
    public void holdPush(long bytes) {
        pushedBytes.addAndGet(bytes);
        hold(bytes);
    }

    /** Counts the memory that a reply, or a chunk of one, takes until it is written; on any thread. */
    public void hold(long bytes) {
        heldBytes.addAndGet(bytes);
        answers.hold(bytes);
    }

    /** Whether no more replies should be requested until some have been written; on any thread. */
    public boolean full() {
        return heldBytes.get() - pushedBytes.get() >= FULL_BYTES;
    }

    /** Returns the approximate memory of the replies that wait to be written; on any thread. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** Returns the memory in which the replies are counted, which determines whether space for more is available. */
    public AnswerMemory answers() {
        return answers;
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
            channel.write(piece.bytes()).addListener(written -> pieceTaken(piece));
            // From here on, AnswerMemory counts it as written data.
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

    /** Drops all replies, because the connection is closed. */
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
