package io.caravan.server.protocol.resp;

import io.caravan.server.document.Outcome;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespVersion;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A reply that has a place in the order of its connection's replies, and may not be complete yet. One call to {@link
 * #complete} completes the reply, or {@link #add} and {@link #end} complete it in chunks.
 *
 * <p>Only the event loop uses the fields, except that the completing thread writes {@code reply} and {@code heldBytes}
 * before it passes this object to the event loop.
 *
 * <p>The reply to a request measures the time since the start of its request, for {@code /metrics} and {@code SLOWLOG}.
 */
public class PendingReply implements Outcome<Reply> {
    /** Prefixes of the errors that count as failures of the server. */
    private static final Set<String> FAILURES = Set.of("OOM", "IOERR", "CORRUPT", "ARCHIVE", "RESTORING");

    private static final String INTERNAL = "ERR internal error";

    private final ReplyQueue queue;
    /** The protocol version of the reply: that of the connection when the request begins. */
    RespVersion protocol;

    /** Whether this is a push message, which is not a reply to a request. */
    final boolean push;

    private @Nullable Reply reply;
    private @Nullable Queue<Piece> pieces;
    private long heldBytes;
    private boolean done;
    /** Counts the request; null if this is not the reply to a request of a client. */
    private final @Nullable RespProtocol server;

    private final @Nullable Session session;
    private final @Nullable CommandSpec spec;
    private final @Nullable Command command;
    private final long startedNanos;

    /**
     * A chunk of a reply, which is released after it is written; then {@code gone} runs on the event loop. The capacity
     * of the chunk is already counted in the connection's memory.
     */
    public record Piece(ByteBuf bytes, Runnable gone) {
        void drop() {
            bytes.release();
            gone.run();
        }
    }

    /** Creates an incomplete reply that is not counted, or a push message. */
    PendingReply(ReplyQueue queue, RespVersion protocol, boolean push) {
        this.queue = queue;
        this.protocol = protocol;
        this.push = push;
        this.server = null;
        this.session = null;
        this.spec = null;
        this.command = null;
        this.startedNanos = 0;
    }

    /**
     * Creates the pending reply to a request that starts now. The spec is null if the command does not exist, and the
     * command if the request is malformed. Called on the event loop.
     */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    PendingReply(
            ReplyQueue queue,
            RespProtocol server,
            Session session,
            @Nullable CommandSpec spec,
            @Nullable Command command,
            long startedNanos) {
        this.queue = queue;
        this.protocol = session.protocol;
        this.push = false;
        this.server = server;
        this.session = session;
        this.spec = spec;
        this.command = command;
        this.startedNanos = startedNanos;
        session.commands++;
    }

    @Override
    public Runnable untilAbandoned(Runnable rest) {
        return session == null ? rest : session.waiting.add(rest);
    }

    /**
     * Called when the reply is complete, although earlier replies may not be, or when the connection ends before the
     * reply is complete.
     */
    protected void ended(RequestOutcome outcome, long nowNanos) {
        if (server != null && session != null) {
            server.ended(session, spec, command, outcome, nowNanos - startedNanos);
        }
    }

    private static RequestOutcome outcome(String error) {
        int space = error.indexOf(' ');
        boolean failed = FAILURES.contains(space < 0 ? error : error.substring(0, space)) || error.startsWith(INTERNAL);
        return failed ? RequestOutcome.FAILED : RequestOutcome.REJECTED;
    }

    /** Sets the memory that the reply will take. Called on the thread that will complete the reply. */
    public final void hold(long bytes) {
        long added = bytes - heldBytes;
        heldBytes = bytes;
        if (added == 0) {
            return;
        }
        if (push) {
            queue.memory().holdPush(added);
        } else {
            queue.memory().holdReply(added);
        }
    }

    /** Completes the reply. Call this once, on any thread. */
    public final void complete(Reply value) {
        // The memory of a reply without text or bytes is counted with its request.
        hold(push ? value.heldBytes() : value.heldBytes() - Reply.OBJECT_BYTES);
        reply = value;
        queue.completed(this);
    }

    @Override
    public final void success(Reply value) {
        complete(value);
    }

    @Override
    public final void failure(RuntimeException problem) {
        complete(Errors.reply(problem));
    }

    /** Marks the reply as complete, and reports the outcome; {@code nowNanos} is the current time. */
    final void markDone(long nowNanos) {
        if (!done) {
            done = true;
            ended(reply instanceof Reply.Error error ? outcome(error.text()) : RequestOutcome.OK, nowNanos);
        }
    }

    /** Abandons the reply and its chunks, because the connection is closed. */
    final void abandon() {
        for (Piece piece = pollPiece(); piece != null; piece = pollPiece()) {
            piece.drop();
        }
        if (!done) {
            done = true;
            ended(RequestOutcome.ABANDONED, System.nanoTime());
        }
    }

    /** Adds a chunk of a reply. */
    public final void add(Piece piece) {
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
    public final void end() {
        markDone(System.nanoTime());
        queue.changed();
    }

    /** Whether the reply is complete or abandoned. */
    public final boolean done() {
        return done;
    }

    public final @Nullable Reply reply() {
        return reply;
    }

    /** Returns the next chunk that has not been written, or null. */
    @Nullable
    final Piece pollPiece() {
        return pieces == null ? null : pieces.poll();
    }
}
