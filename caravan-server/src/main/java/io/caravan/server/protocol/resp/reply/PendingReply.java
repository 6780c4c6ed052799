package io.caravan.server.protocol.resp.reply;

import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The place of one answer in the order of its connection's answers. The answer comes whole, by {@link #complete}, or
 * piece by piece, by {@link #add} and {@link #end}.
 *
 * <p>Fields are the event loop's, but for {@code reply} and {@code heldBytes}, which the completing thread writes
 * before it passes this on, and {@code nextCompleted}, which is {@link CompletionInbox}'s.
 */
public final class PendingReply implements Outcome<Reply> {
    private final ReplyQueue queue;
    private final Protocol protocol;
    private final Observer observer;
    private final boolean push;
    private @Nullable Reply reply;
    private @Nullable Queue<Piece> pieces;
    private long heldBytes;
    private boolean done;

    @Nullable
    PendingReply nextCompleted;

    /** Learns once how a request ended, on the event loop. */
    public interface Observer {
        /**
         * The answer is there, and goes out when those before it have.
         *
         * @param reply null when it came piece by piece
         */
        default void answered(@Nullable Reply reply) {}

        /** The connection ended before. */
        default void abandoned() {}
    }

    /**
     * Part of an answer.
     *
     * @param bytes released once they are written
     * @param heldBytes what {@link ReplyQueue#hold} has been told of them
     * @param gone is run then, on the event loop
     */
    public record Piece(ByteBuf bytes, long heldBytes, Runnable gone) {
        void drop() {
            bytes.release();
            gone.run();
        }
    }

    PendingReply(ReplyQueue queue, Protocol protocol, Observer observer) {
        this(queue, protocol, observer, false);
    }

    private PendingReply(ReplyQueue queue, Protocol protocol, Observer observer, boolean push) {
        this.queue = queue;
        this.protocol = protocol;
        this.observer = observer;
        this.push = push;
    }

    /** A place for what nobody asked for. */
    static PendingReply push(ReplyQueue queue, Protocol protocol) {
        return new PendingReply(queue, protocol, new Observer() {}, true);
    }

    boolean isPush() {
        return push;
    }

    /** The version that the connection spoke when the request came. */
    Protocol protocol() {
        return protocol;
    }

    /** Counts the memory that the answer will take; on the thread that will complete it. */
    public void hold(long bytes) {
        queue.hold(bytes - heldBytes);
        heldBytes = bytes;
    }

    /** The memory counted for the answer. */
    long heldBytes() {
        return heldBytes;
    }

    /** Gives the answer; on any thread, once. */
    public void complete(Reply answer) {
        hold(answer.heldBytes());
        reply = answer;
        queue.completed(this);
    }

    @Override
    public void success(Reply answer) {
        complete(answer);
    }

    @Override
    public void failure(RuntimeException problem) {
        complete(Errors.reply(problem));
    }

    /** Marks the answer as given. */
    void markDone() {
        if (!done) {
            done = true;
            observer.answered(reply);
        }
    }

    /** The connection is gone. */
    void abandon() {
        if (!done) {
            done = true;
            observer.abandoned();
        }
    }

    public ReplyQueue queue() {
        return queue;
    }

    /** Adds a piece of an answer. */
    public void add(Piece piece) {
        if (queue.closed()) {
            piece.drop();
            return;
        }
        if (pieces == null) {
            pieces = new ArrayDeque<>();
        }
        pieces.add(piece);
        queue.changed();
    }

    /** Ends an answer that came in pieces. */
    public void end() {
        markDone();
        queue.changed();
    }

    /** Whether nothing more will come. */
    public boolean done() {
        return done;
    }

    public @Nullable Reply reply() {
        return reply;
    }

    /** The next piece that has not been written, or null. */
    @Nullable
    Piece pollPiece() {
        return pieces == null ? null : pieces.poll();
    }
}
