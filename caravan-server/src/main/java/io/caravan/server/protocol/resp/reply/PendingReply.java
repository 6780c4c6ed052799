package io.caravan.server.protocol.resp.reply;

import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The place of one reply in the order of its connection's replies. The reply is completed by one call of
 * {@link #complete}, or in chunks by {@link #add} and {@link #end}.
 *
 * <p>Only the event loop uses the fields, except that the completing thread writes {@code reply} and {@code heldBytes}
 * before it passes this object to the event loop.
 */
public final class PendingReply implements Outcome<Reply> {
    private final ReplyQueue queue;
    /** The protocol version of the connection when the request arrived. */
    final Protocol protocol;

    private final Observer observer;
    /** Whether this is a message that is not a reply to a request. */
    final boolean push;

    private @Nullable Reply reply;
    private @Nullable Queue<Piece> pieces;
    private long heldBytes;
    private boolean done;

    /** Receives the outcome of a request once, on the event loop. */
    public interface Observer {
        /**
         * Called when the reply is complete. Earlier replies may still be incomplete.
         *
         * @param reply null if the reply was sent in chunks
         */
        default void answered(@Nullable Reply reply) {}

        /** Called if the connection ends before the reply is complete. */
        default void abandoned() {}
    }

    /**
     * A chunk of a reply. The connection's memory already includes its capacity.
     *
     * @param bytes the chunk, which is released after it is written
     * @param gone runs on the event loop after the chunk is released
     */
    public record Piece(ByteBuf bytes, Runnable gone) {
        void drop() {
            bytes.release();
            gone.run();
        }
    }

    PendingReply(ReplyQueue queue, Protocol protocol, Observer observer, boolean push) {
        this.queue = queue;
        this.protocol = protocol;
        this.observer = observer;
        this.push = push;
    }

    /** Sets the memory that the reply will take. Called on the thread that will complete the reply. */
    public void hold(long bytes) {
        long added = bytes - heldBytes;
        heldBytes = bytes;
        if (push) {
            queue.memory().holdPush(added);
        } else {
            queue.memory().holdReply(added);
        }
    }

    /** Completes the reply. Call this once, on any thread. */
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

    /** Marks the reply as complete, and informs the observer. */
    void markDone() {
        if (!done) {
            done = true;
            observer.answered(reply);
        }
    }

    /** Abandons the reply and its chunks, because the connection is closed. */
    void abandon() {
        for (Piece piece = pollPiece(); piece != null; piece = pollPiece()) {
            piece.drop();
        }
        if (!done) {
            done = true;
            observer.abandoned();
        }
    }

    public ReplyQueue queue() {
        return queue;
    }

    /** Adds a chunk of a reply. */
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

    /** Ends a reply that was sent in chunks. */
    public void end() {
        markDone();
        queue.changed();
    }

    /** Whether the reply is complete or abandoned. */
    public boolean done() {
        return done;
    }

    public @Nullable Reply reply() {
        return reply;
    }

    /** Returns the next chunk that has not been written, or null. */
    @Nullable
    Piece pollPiece() {
        return pieces == null ? null : pieces.poll();
    }
}
