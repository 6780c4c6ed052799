package io.caravan.server.protocol.resp;

import io.caravan.NotWritableException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Prefetch;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.server.protocol.resp.codec.RespRequest;
import io.caravan.server.protocol.resp.codec.RespRequestDecoder;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs one connection's requests in order.
 *
 * <p>A write is submitted to the store immediately and acknowledged later. Consecutive reads run together on a reading
 * thread, and later requests wait until these reads are done. A read therefore reflects every earlier write, which the
 * store has already accepted, and no later write.
 *
 * <p>No request runs while a write is waiting for space or for its documents, too many replies are pending, the client
 * is not reading its replies, or the turn is over. {@link #full()} then reports that the connection must stop reading.
 * Used only on the event loop.
 */
final class CommandRunner implements RespRequestDecoder.Intake {
    /** Number of waiting requests at which the connection stops decoding further requests. */
    private static final int MAX_WAITING = 128;

    private static final int MAX_READS_TOGETHER = 64;
    /** Maximum time for which a connection occupies its event loop, unless a single command takes longer. */
    private static final long TURN_NANOS = 500_000;

    private final RespProtocol protocol;
    private final Channel channel;
    private final Session session;
    private final ReplyQueue replies;
    private final ConnectionMemory memory;
    private final DocumentService documents;
    private final Runnable progress;
    private final RespLimits limits;

    private final Deque<RespRequest> waiting = new ArrayDeque<>();
    /** The reads in progress. Other threads read this field. */
    private volatile @Nullable ReadBatch batch;
    /** Whether the reads in progress have released their thread. */
    private boolean batchPaused;

    private boolean awaitingSpace;
    /** The reply to the last write that had to wait for a document from the archive or for another write. */
    private @Nullable PendingReply undecided;

    private boolean rejectedLast;
    /** Start time of the current turn; 0 before the first command of the turn. */
    private long turnNanos;
    /** Start time of the current command. */
    private long nowNanos;

    private boolean turnOver;

    /**
     * Creates a runner.
     *
     * @param progress runs on the event loop when waiting requests can run, and calls {@link #run()}
     */
    CommandRunner(Channel channel, Session session, ReplyQueue replies, RespProtocol protocol, Runnable progress) {
        this.protocol = protocol;
        this.channel = channel;
        this.session = session;
        this.replies = replies;
        this.memory = replies.memory();
        this.documents = protocol.documents;
        this.progress = progress;
        this.limits = protocol.limits;
    }

    /** Accepts the next request, and runs the request unless it must wait. */
    void offer(RespRequest request) {
        if (!session.quitting()) {
            waiting.add(request);
            run();
        }
    }

    /**
     * Whether the next request may be decoded. After the last request, all bytes are decoded, because later requests
     * are dropped.
     */
    @Override
    public boolean open() {
        return session.quitting() || !mustWait() && memory.mayDecode();
    }

    @Override
    public boolean stranger() {
        return session.stranger();
    }

    @Override
    public boolean grant(long bytes) {
        return session.quitting() || memory.tryHold(bytes);
    }

    /** Whether reading from the socket must pause. */
    boolean full() {
        return session.quitting() || mustWait();
    }

    /**
     * Whether the next request must wait before it is decoded. Requests of an unauthenticated client are decoded one at
     * a time, because a waiting request may authenticate the client and thus change the limits of the next request.
     */
    boolean mustWait() {
        return turnOver || !waiting.isEmpty() && session.stranger() || waiting.size() >= MAX_WAITING || !mayRun();
    }

    private boolean mayRun() {
        return !awaitingSpace && !awaitingDocument() && replies.size() < limits.maxPending() && repliesAreReceived();
    }

    /** Whether all requests so far have run and all replies have been written. */
    boolean idle() {
        return waiting.isEmpty() && replies.isEmpty();
    }

    /** Whether the connection ends with an error while the client may still be sending. */
    boolean rejectedLast() {
        return rejectedLast;
    }

    /** Returns how long a blocking request has waited, in nanoseconds; 0 if there is none. Callable on any thread. */
    long waitingNanos() {
        ReadBatch current = batch;
        return current == null ? 0 : current.waitingNanos();
    }

    /**
     * Ends the connection's turn. Returns whether the time of the turn was used up, so that requests may remain for the
     * next turn.
     */
    boolean endTurn() {
        boolean wasOver = turnOver;
        turnNanos = 0;
        turnOver = false;
        return wasOver;
    }

    /** Drops waiting requests, because the connection is closed. */
    void close() {
        session.quit();
        session.closed();
        waiting.clear();
    }

    /** Runs the requests that can run now. */
    void run() {
        ReadBatch reads = batch;
        if (reads != null && batchPaused) {
            resumeReading(reads);
        }
        while (batch == null && mayRun() && !waiting.isEmpty() && replyHasSpace() && inTurn()) {
            runNext();
        }
    }

    private boolean inTurn() {
        nowNanos = System.nanoTime();
        if (turnNanos == 0) {
            turnNanos = nowNanos;
        }
        turnOver |= nowNanos - turnNanos > TURN_NANOS;
        return !turnOver;
    }

    private void resumeReading(ReadBatch paused) {
        if (paused.finished()) {
            batch = null;
        } else if (repliesAreReceived() && memory.room()) {
            batchPaused = false;
            paused.start();
        }
    }

    /** Whether the client is reading its replies, and there is memory for small replies. */
    private boolean repliesAreReceived() {
        return channel.isWritable() && !memory.full() && memory.mayReply(0);
    }

    /**
     * Whether there is memory for the next reply. Reads wait for memory, because their replies may be large. Writes do
     * not wait, so that slow readers cannot stop them.
     */
    private boolean replyHasSpace() {
        return memory.room() || nextRead() == null;
    }

    private void runNext() {
        RespRequest next = waiting.element();
        if (next instanceof RespRequest.Rejected rejected) {
            if (rejected.last()) {
                rejectLast(rejected.error());
            } else {
                reject(null, new Reply.Error(rejected.error()));
            }
            return;
        }
        Command command = (Command) next;
        CommandSpec spec = protocol.find(command);
        Reply.Error rejection = protocol.reject(session, spec, command);
        if (spec == null || rejection != null) {
            reject(spec, rejection);
        } else if (session.transaction() != null && !spec.atOnce()) {
            queue(session.transaction(), spec, command);
        } else if (spec.action() instanceof Action.Immediate action) {
            replyTo(action, spec, command);
        } else if (spec.action() instanceof Action.Write action) {
            write(action, spec, command);
        } else {
            read(spec, command);
        }
    }

    private void rejectLast(String error) {
        openReply(null).complete(new Reply.Error(error));
        rejectedLast = true;
        session.quit();
        waiting.clear();
    }

    private void reject(@Nullable CommandSpec spec, Reply.@Nullable Error rejection) {
        Transaction transaction = session.transaction();
        if (transaction != null) {
            transaction.spoil();
        }
        openReply(spec).complete(Objects.requireNonNull(rejection));
    }

    private void queue(Transaction transaction, CommandSpec spec, Command command) {
        try {
            Reply queued = transaction.queue(session, spec, command);
            openReply(spec).complete(queued);
        } catch (RuntimeException rejected) {
            reject(spec, Errors.reply(rejected));
        }
    }

    private void replyTo(Action.Immediate action, CommandSpec spec, Command command) {
        PendingReply place = openReply(spec);
        try {
            place.complete(action.run(session, command));
        } catch (RuntimeException problem) {
            place.complete(Errors.reply(problem));
            rejectedLast = session.quitting();
        }
        if (session.quitting()) {
            waiting.clear();
        }
    }

    private void write(Action.Write action, CommandSpec spec, Command command) {
        PendingReply place = null;
        try {
            Collection<DocumentName> names = firstNames(spec, command);
            if (!documents.writable(names)) {
                awaitSpace(names);
                return;
            }
            place = openReply(spec);
            Change change = action.prepare(session, command);
            documents.willWrite(channel.eventLoop(), change.names());
            write(change, command, place);
        } catch (RuntimeException rejected) {
            (place == null ? openReply(spec) : place).complete(Errors.reply(rejected));
        }
    }

    /**
     * Returns the first document of a write, which is in the same shard as the others. Returns none if there is only
     * one shard, or if the write names no document.
     */
    private Collection<DocumentName> firstNames(CommandSpec spec, Command command) {
        if (documents.shards() == 1) {
            return List.of();
        }
        Transaction transaction = session.transaction();
        return transaction != null
                ? transaction.firstNames()
                : spec.keys().of(command).stream()
                        .limit(1)
                        .map(DocumentName::of)
                        .toList();
    }

    /**
     * Applies a write on this thread. If values must first be read or validated, or if the write does not fit into the
     * store now, a reading thread continues it.
     */
    private void write(Change change, Command command, PendingReply place) {
        try {
            if (!documents.write(change.names(), change.edit(), protocol.noPrefetch, place)) {
                undecided = place;
            }
        } catch (UnpreparedException later) {
            writeApart(change, later.prefetch(), command, place);
        } catch (NotWritableException later) {
            writeApart(change, protocol.noPrefetch.own(), command, place);
        }
    }

    private void writeApart(Change change, Prefetch prefetch, Command command, PendingReply place) {
        Action.Stream apart = (same, context) -> () -> finishWrite(change, prefetch, context);
        readWith(apart, command, place, false, false);
    }

    /** Applies a write on a reading thread. Returns false if the write must wait for space in the store. */
    private boolean finishWrite(Change change, Prefetch prefetch, ResumableRead.Context context) {
        context.checkStillKnown();
        if (!documents.writable(change.names())) {
            documents.onWritable(change.names(), channel.eventLoop(), false, session.untilClosed(context.wake()));
            return false;
        }
        documents.prepare(prefetch);
        // The copied values stay in memory until the write is durable.
        context.place().hold(prefetch.copiedBytes());
        try {
            documents.writeWaiting(change.names(), change.edit(), prefetch, context.place());
            return true;
        } catch (NotWritableException tooLarge) {
            // The store is writable, but the write needs more space. Copies that are held while writes wait could use
            // all memory for replies, and the writes could then not go on.
            prefetch.releaseCopies();
            context.place().hold(0);
            documents.onWritable(change.names(), channel.eventLoop(), true, session.untilClosed(context.wake()));
            return false;
        }
    }

    /** Opens the reply to the next request; {@code spec} is null if its command does not exist. */
    private PendingReply openReply(@Nullable CommandSpec spec) {
        Command command = waiting.remove() instanceof Command known ? known : null;
        return replies.open(new PendingReply(replies, protocol, session, spec, command, nowNanos));
    }

    private void awaitSpace(Collection<DocumentName> names) {
        documents.onWritable(names, channel.eventLoop(), false, session.untilClosed(this::spaceFound));
        awaitingSpace = true;
    }

    /**
     * Whether a write is waiting for a document from the archive or for another write. No request may overtake this
     * write.
     */
    private boolean awaitingDocument() {
        return undecided != null && !undecided.done();
    }

    private void spaceFound() {
        awaitingSpace = false;
        progress.run();
    }

    private void read(CommandSpec spec, Command command) {
        readWith(spec.action(), command, openReply(spec), spec.readsDocuments(), spec.blocks());
    }

    /** Passes a read to a reading thread, together with the reads that directly follow it. */
    private void readWith(Action first, Command of, PendingReply place, boolean readsDocuments, boolean blocks) {
        ReadBatch reads = new ReadBatch(session, protocol.readers, replies, this::readsPaused);
        reads.add(first, of, place, readsDocuments, blocks);
        CommandSpec next = nextRead();
        while (next != null && reads.size() < MAX_READS_TOGETHER) {
            Command command = (Command) waiting.element();
            reads.add(next.action(), command, openReply(next), next.readsDocuments(), next.blocks());
            next = nextRead();
        }
        batch = reads;
        batchPaused = false;
        reads.begin(documents.readBarrier());
    }

    /**
     * Returns the spec of the next request if the request may run now and belongs on a reading thread; null otherwise.
     */
    private @Nullable CommandSpec nextRead() {
        if (!(waiting.peek() instanceof Command command)) {
            return null;
        }
        CommandSpec spec = protocol.find(command);
        boolean reads =
                spec != null && (spec.action() instanceof Action.Read || spec.action() instanceof Action.Stream);
        return reads && protocol.reject(session, spec, command) == null ? spec : null;
    }

    private void readsPaused() {
        batchPaused = true;
        progress.run();
    }
}
