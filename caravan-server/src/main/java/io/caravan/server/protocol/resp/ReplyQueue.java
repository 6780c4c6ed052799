package io.caravan.server.protocol.resp;

import io.caravan.server.document.Outcome;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.ConnectionMemory;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Queues the replies of one connection. Replies may be completed in any order, but are written in the order of the
 * requests, several in one write. The queue writes nothing while the socket's own buffer is full. Replies that wait to
 * be written count toward the connection's {@linkplain #memory memory}. Used only on the event loop, except where a
 * method says otherwise.
 */
final class ReplyQueue {
    /** Length at which a buffer is written, so that the size of a buffer does not depend on the number of replies. */
    private static final int WRITE_BYTES = 64 * 1024;
    /** Prefixes of the errors that count as failures of the server. */
    private static final Set<String> FAILURES = Set.of("OOM", "IOERR", "CORRUPT", "ARCHIVE", "RESTORING");

    private static final String INTERNAL = "ERR internal error";

    final ConnectionMemory memory;
    private final Channel channel;
    private final EventLoop loop;
    private final Owner owner;
    private final Queue<PendingReply> pending = new ArrayDeque<>();
    /** The replies completed by other threads that have not been marked as done yet. */
    private final Queue<PendingReply> completed = new ConcurrentLinkedQueue<>();
    /** Whether a task that will write the completed replies is scheduled. */
    private final AtomicBoolean delivers = new AtomicBoolean();

    private int pushes;
    private @Nullable ByteBuf buffer;
    private boolean closed;

    /** The connection that uses the queue. Called on the event loop. */
    interface Owner {
        /** Continues the connection because replies were completed, and calls {@link #flush()}. */
        void progress();

        /** Whether {@link #progress} is running and will still flush. */
        boolean inProgress();

        /** Called once for each request, when its reply is complete or abandoned. */
        void ended(PendingReply reply, RequestOutcome outcome, long nanos);
    }

    /**
     * A chunk of a reply, which is released after it is written; then {@code gone} runs on the event loop. The capacity
     * of the chunk is already counted in the connection's memory.
     */
    record Piece(ByteBuf bytes, Runnable gone) {
        void drop() {
            bytes.release();
            gone.run();
        }
    }

    ReplyQueue(Channel channel, EventLoop loop, ConnectionMemory memory, Owner owner) {
        this.channel = channel;
        this.loop = loop;
        this.memory = memory;
        this.owner = owner;
    }

    /**
     * Adds the reply to a request that starts now to the end of the queue. The command is null if the request is
     * malformed.
     */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    PendingReply open(Session session, @Nullable Command command, long startedNanos) {
        session.commands++;
        PendingReply reply = new PendingReply(session, command, startedNanos, false);
        pending.add(reply);
        return reply;
    }

    /** Adds a message after the replies to all requests so far, unless the connection is closed. */
    void push(Session session, Reply message) {
        if (!closed) {
            PendingReply push = new PendingReply(session, null, 0, true);
            pending.add(push);
            pushes++;
            push.complete(message);
        }
    }

    /** Returns the number of requests whose replies have not been written. */
    int size() {
        return pending.size() - pushes;
    }

    /** Whether all replies and messages have been written. */
    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Marks all completed replies as done before writing any of them, so that they are written together. */
    private void deliver() {
        long nowNanos = System.nanoTime();
        delivers.set(false);
        for (PendingReply reply = completed.poll(); reply != null; reply = completed.poll()) {
            reply.markDone(nowNanos);
        }
        owner.progress();
    }

    /** Writes all replies that can be written now. Returns whether the queue has become shorter. */
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

    /** Writes the oldest reply, or a chunk of it. Returns false if neither is available. */
    private boolean writeHead() {
        PendingReply head = pending.peek();
        if (head == null) {
            return false;
        }
        Piece piece = head.pieces == null ? null : head.pieces.poll();
        if (piece != null) {
            writeBuffer();
            int bytes = piece.bytes().capacity();
            channel.write(piece.bytes()).addListener(written -> piece.gone().run());
            // From here on, the connection's memory counts the chunk as written data.
            memory.holdReply(-bytes);
            return true;
        }
        if (!head.done) {
            return false;
        }
        pending.remove();
        if (head.push) {
            pushes--;
        }
        if (head.reply != null) {
            encode(head.reply, head.resp3);
            head.hold(0);
        }
        return true;
    }

    private void encode(Reply reply, boolean resp3) {
        if (buffer == null) {
            buffer = channel.alloc().ioBuffer();
        }
        reply.encode(buffer, resp3);
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

    /** Drops all replies, because the connection is closed. */
    void close() {
        closed = true;
        pending.forEach(PendingReply::abandon);
        pending.clear();
        if (buffer != null) {
            // The buffer remains only if the encoding of a reply has failed.
            buffer.release();
            buffer = null;
        }
    }

    /**
     * A request, and its reply, which has a place in the order of the connection's replies and may not be complete yet.
     * One call to {@link #complete} completes the reply, or {@link #add} and {@link #end} complete it in chunks.
     *
     * <p>Only the event loop uses the fields, except that the completing thread writes {@code reply} and {@code
     * heldBytes} before it passes this object to the event loop or to the next turn of the read.
     */
    final class PendingReply implements Outcome<Reply> {
        final Session session;
        /** The definition of the command; {@link CommandSpec#UNKNOWN} if the request is malformed. */
        final CommandSpec spec;

        private final @Nullable Command command;

        private final long startedNanos;
        /** Whether this is a push message, which is not a reply to a request. */
        private final boolean push;
        /** Whether the reply is sent in RESP 3, as the connection uses when the request begins. */
        boolean resp3;

        private @Nullable Reply reply;
        private @Nullable Queue<Piece> pieces;
        private long heldBytes;
        private boolean done;
        /** The read that completes the reply, once it has started. */
        @Nullable
        ResumableRead read;
        /** Schedules the next turn of the read, on any thread. */
        Runnable nextTurn = () -> {};

        private PendingReply(Session session, @Nullable Command command, long startedNanos, boolean push) {
            this.session = session;
            this.spec = command == null ? CommandSpec.UNKNOWN : command.spec;
            this.command = command;
            this.startedNanos = startedNanos;
            this.push = push;
            this.resp3 = session.resp3;
        }

        Command command() {
            return Objects.requireNonNull(command);
        }

        /** Schedules the next turn of the read. Called once for each turn that returns false, on any thread. */
        void wake() {
            nextTurn.run();
        }

        /** Sets the memory that the reply will take. Called on the thread that will complete the reply. */
        void hold(long bytes) {
            long added = bytes - heldBytes;
            heldBytes = bytes;
            if (added == 0) {
                return;
            }
            if (push) {
                memory.holdPush(added);
            } else {
                memory.holdReply(added);
            }
        }

        /**
         * Completes the reply. Call this once, on any thread. If {@link Owner#progress} is running on this thread, the
         * running call will write the reply. Otherwise, a single task writes all replies that were completed before the
         * task runs, because tasks and writes are expensive.
         */
        void complete(Reply value) {
            // The memory of a reply without text or bytes is counted with its request.
            hold(push ? value.heldBytes() : value.heldBytes() - Reply.OBJECT_BYTES);
            reply = value;
            if (loop.inEventLoop()) {
                markDone(System.nanoTime());
                if (owner.inProgress()) {
                    return;
                }
            } else {
                completed.add(this);
            }
            if (!delivers.get() && delivers.compareAndSet(false, true)) {
                loop.execute(ReplyQueue.this::deliver);
            }
        }

        /** Completes the reply between two turns of the read, which takes no further turn. */
        void completeLast(Reply value) {
            complete(value);
            wake();
        }

        @Override
        public void success(Reply value) {
            complete(value);
        }

        @Override
        public void failure(RuntimeException problem) {
            complete(CommandException.reply(problem));
        }

        @Override
        public Runnable untilAbandoned(Runnable rest) {
            return session.waiting.add(rest);
        }

        /** Marks the reply as complete, and reports the outcome; {@code nowNanos} is the current time. */
        private void markDone(long nowNanos) {
            if (!done) {
                done = true;
                ended(reply instanceof Reply.Error error ? outcome(error.text()) : RequestOutcome.OK, nowNanos);
            }
        }

        private static RequestOutcome outcome(String error) {
            boolean failed = FAILURES.contains(error.split(" ", 2)[0]) || error.startsWith(INTERNAL);
            return failed ? RequestOutcome.FAILED : RequestOutcome.REJECTED;
        }

        private void ended(RequestOutcome outcome, long nowNanos) {
            if (!push) {
                owner.ended(this, outcome, nowNanos - startedNanos);
            }
        }

        private void abandon() {
            while (pieces != null && !pieces.isEmpty()) {
                pieces.remove().drop();
            }
            if (!done) {
                done = true;
                ended(RequestOutcome.ABANDONED, System.nanoTime());
            }
        }

        void add(Piece piece) {
            if (closed) {
                piece.drop();
                return;
            }
            if (pieces == null) {
                pieces = new ArrayDeque<>();
            }
            pieces.add(piece);
            owner.progress();
        }

        void end() {
            markDone(System.nanoTime());
            owner.progress();
        }

        /** Whether the reply is complete or abandoned. */
        boolean done() {
            return done;
        }

        /** Returns the reply; null if it is incomplete or sent in chunks. */
        @Nullable
        Reply reply() {
            return reply;
        }
    }
}
