package io.caravan.server.protocol.resp;

import io.caravan.NotWritableException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.Prefetch;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Handles the RESP connection of one client: runs its requests in order, writes the replies, and closes the connection
 * when the client has quit or will send no more data, and all replies are written.
 *
 * <p>A write is submitted to the store immediately and acknowledged later. Consecutive reads run together on a reading
 * thread, and later requests wait until these reads are done. A read therefore reflects every earlier write, which the
 * store has already accepted, and no later write.
 *
 * <p>No request runs while a write is waiting for space or for its documents, too many replies are pending, the client
 * is not reading its replies, or the turn is over. The handler then does not read from the socket either. Used only on
 * the event loop.
 */
final class RespHandler extends Connection implements RespRequestDecoder.Intake, ReplyQueue.Owner {
    /** Time for which a stopping server waits for a client to close the connection, after {@link #STOP_GRACE}. */
    private static final Duration STOP_LINGER = Duration.ofMillis(500);

    /** Time for which a stopping server still replies to requests that were in transit. */
    private static final Duration STOP_GRACE = Duration.ofMillis(100);
    /** The value of {@link #unfinishedRequest} for a client that must still authenticate. */
    private static final long AUTHENTICATION = -1;
    /** Number of waiting requests at which the connection stops decoding further requests. */
    private static final int MAX_WAITING = 128;

    private static final int MAX_READS_TOGETHER = 64;
    /** Maximum time for which a connection occupies its event loop, unless a single command takes longer. */
    private static final long TURN_NANOS = 500_000;

    private final RespProtocol protocol;
    private final int maxPending;
    private final Session session;
    private final ReplyQueue replies;
    /** Decodes the requests; precedes this handler in the pipeline. */
    final RespRequestDecoder decoder;

    private final Deque<RespRequest> waiting = new ArrayDeque<>();
    /** The reads in progress. Other threads read this field. */
    private volatile @Nullable ReadBatch batch;
    /** Whether the reads in progress have released their thread. */
    private boolean batchPaused;

    private boolean awaitingSpace;
    /** The reply to the last write that had to wait for a document from the archive or for another write. */
    private @Nullable PendingReply undecided;

    private long requests;
    /** Whether the connection ends with an error while the client may still be sending. */
    private boolean rejectedLast;

    private boolean noMoreRequests;
    private boolean stopping;
    private boolean inProgress;
    private boolean moreProgress;
    /** Start time of the current turn; 0 before the first command of the turn. */
    private long turnNanos;
    /** Start time of the current command. */
    private long nowNanos;

    private boolean turnOver;

    RespHandler(Channel channel, RespProtocol protocol, ConnectionMemory memory) {
        super(channel, memory);
        this.protocol = protocol;
        this.maxPending = protocol.limits.maxPending();
        this.replies = new ReplyQueue(channel, channel.eventLoop(), memory, this);
        this.session = protocol.newSession(channel, replies);
        this.decoder = new RespRequestDecoder(protocol.spellings, protocol.limits, this);
        memory.onRoom(this::progress);
        // Called on any thread.
        memory.waitingFor(() -> {
            ReadBatch current = batch;
            return current == null ? 0 : current.waitingNanos();
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object request) {
        requests++;
        memory.requestArrived();
        boolean tooLate = stopping && !protocol.redirects();
        offer(tooLate ? new RespRequest.Rejected("ERR the server is stopping") : (RespRequest) request);
    }

    private void offer(RespRequest request) {
        if (!session.quitting) {
            waiting.add(request);
            run();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        progress();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        progress();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            session.endOfInput();
            noMoreRequests = true;
            progress();
        }
    }

    /**
     * Whether the next request may be decoded. After the last request, all bytes are decoded, because later requests
     * are dropped.
     */
    @Override
    public boolean open() {
        return session.quitting || !mustWait() && memory.mayDecode();
    }

    @Override
    public boolean stranger() {
        return session.stranger();
    }

    @Override
    public boolean grant(long bytes) {
        return session.quitting || memory.tryHold(bytes);
    }

    /**
     * Whether the next request must wait before it is decoded. Requests of an unauthenticated client are decoded one at
     * a time, because a waiting request may authenticate the client and thus change the limits of the next request.
     */
    private boolean mustWait() {
        return turnOver || !waiting.isEmpty() && session.stranger() || waiting.size() >= MAX_WAITING || !mayRun();
    }

    private boolean mayRun() {
        // No request may overtake a write that is waiting for a document.
        boolean decided = undecided == null || undecided.done();
        return !awaitingSpace && decided && replies.size() < maxPending && repliesAreReceived();
    }

    @Override
    public boolean idle() {
        return repliedAll() && decoder.unfinishedBytes() == 0;
    }

    /** Whether all decoded requests have run, and all replies have been written. */
    private boolean repliedAll() {
        return waiting.isEmpty() && replies.isEmpty();
    }

    @Override
    public long unfinishedRequest() {
        if (owesAuthentication()) {
            return AUTHENTICATION;
        }
        return decoder.unfinishedBytes() == 0 ? 0 : requests + 1;
    }

    private boolean owesAuthentication() {
        return session.stranger() && !session.quitting;
    }

    @Override
    public void requestTimedOut() {
        offer(new RespRequest.Rejected(
                owesAuthentication()
                        ? "NOAUTH Authentication required: the client did not authenticate in time"
                        : "ERR Protocol error: the request did not arrive completely in time"));
        progress();
    }

    @Override
    public void end() {
        stopping = true;
        session.end();
        Runnable stop = () -> {
            noMoreRequests = true;
            progress();
        };
        channel.eventLoop().schedule(stop, STOP_GRACE.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Runs requests and writes replies for one limited turn, so that other connections of the event loop get their
     * turns. Writing a reply can free space for more requests, and can call this method again. A failure closes only
     * this connection.
     */
    @Override
    public void progress() {
        moreProgress = true;
        if (inProgress) {
            return;
        }
        inProgress = true;
        try {
            while (moreProgress) {
                moreProgress = false;
                run();
                // Callbacks may set moreProgress, so no assignment to this field may contain calls that run callbacks.
                boolean more = replies.flush();
                long before = requests;
                decoder.resume();
                if (more || requests != before || moreProgress || readOnOrClose()) {
                    moreProgress = true;
                }
            }
            turnNanos = 0;
            if (turnOver) {
                turnOver = false;
                // Unlike a task passed to execute(), a scheduled task runs after the loop has polled all sockets.
                channel.eventLoop().schedule(this::progress, 1, TimeUnit.NANOSECONDS);
            }
        } catch (Throwable broken) {
            fail(broken);
        } finally {
            inProgress = false;
        }
    }

    @Override
    public boolean inProgress() {
        return inProgress;
    }

    @Override
    public void ended(PendingReply reply, RequestOutcome outcome, long nanos) {
        Objects.requireNonNull(protocol.operations.get(reply.spec)).count(outcome, nanos);
        if (nanos >= SlowLog.SLOW_NANOS && outcome != RequestOutcome.ABANDONED) {
            protocol.slowLog.add(reply, nanos);
        }
    }

    /** Resumes or pauses reading, or closes the connection. Returns whether held-back requests have space now. */
    private boolean readOnOrClose() {
        if (repliedAll()) {
            memory.settle(decoder.unfinishedBytes(), !decoder.paused() || !mustWait());
        }
        boolean done = repliedAll() && (session.quitting || noMoreRequests && !decoder.paused());
        if (done && !closing) {
            boolean lingers = rejectedLast || stopping;
            closeWhenSent(lingers ? () -> stopping ? STOP_LINGER : LINGER : null);
        }
        boolean reads = !session.quitting && !mustWait() && channel.isWritable() && memory.mayRead();
        if (!closing) {
            channel.config().setAutoRead(reads);
        }
        return reads && decoder.paused() && memory.mayDecode();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        protocol.forget(session);
        session.end();
        session.release();
        session.quitting = true;
        session.waiting.close();
        waiting.clear();
        replies.close();
    }

    private void run() {
        ReadBatch reads = batch;
        if (reads != null && batchPaused) {
            if (reads.finished()) {
                batch = null;
            } else if (repliesAreReceived() && memory.room()) {
                batchPaused = false;
                reads.start();
            }
        }
        // Reads wait for memory, because their replies may be large. Writes do not, so that slow readers cannot stop
        // them.
        while (batch == null && mayRun() && !waiting.isEmpty() && (memory.room() || !nextReads()) && inTurn()) {
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

    /** Whether the client is reading its replies, and there is memory for small replies. */
    private boolean repliesAreReceived() {
        return channel.isWritable() && !memory.full() && memory.mayReply(0);
    }

    private void runNext() {
        RespRequest next = waiting.element();
        if (next instanceof RespRequest.Rejected rejected) {
            reject(new Reply.Error(rejected.error()));
            if (rejected.last()) {
                rejectedLast = true;
                session.quitting = true;
                waiting.clear();
            }
            return;
        }
        Command command = (Command) next;
        Reply.Error rejection = rejection(command);
        Transaction transaction = session.transaction();
        if (rejection != null) {
            reject(rejection);
        } else if (transaction != null && !command.spec.atOnce) {
            queue(transaction, command);
        } else if (command.spec.action instanceof Action.Immediate action) {
            replyTo(action, command);
        } else if (command.spec.action instanceof Action.Write action) {
            write(action, command);
        } else {
            readWith(openReply());
        }
    }

    /** Returns the error with which to reject the command, or null if it may run on this node. */
    private Reply.@Nullable Error rejection(Command command) {
        Reply.Error rejection = session.reject(command);
        Cluster cluster = protocol.cluster;
        return rejection != null || cluster == null ? rejection : ClusterCommands.redirect(cluster, command);
    }

    private void reject(Reply.Error rejection) {
        Transaction transaction = session.transaction();
        if (transaction != null) {
            transaction.spoil();
        }
        openReply().complete(rejection);
    }

    private void queue(Transaction transaction, Command command) {
        try {
            Reply queued = transaction.queue(session, command);
            openReply().complete(queued);
        } catch (RuntimeException rejected) {
            reject(CommandException.reply(rejected));
        }
    }

    private void replyTo(Action.Immediate action, Command command) {
        PendingReply place = openReply();
        try {
            Reply reply = action.run(session, command);
            // HELLO and RESET reply in the protocol version to which they switch.
            place.resp3 = session.resp3;
            place.complete(reply);
        } catch (RuntimeException problem) {
            place.failure(problem);
            rejectedLast = session.quitting;
        }
        if (session.quitting) {
            waiting.clear();
        }
    }

    private void write(Action.Write action, Command command) {
        PendingReply place = null;
        try {
            // A write within a transaction is EXEC.
            Transaction transaction = session.transaction();
            Collection<DocumentName> names = transaction == null ? command.names() : transaction.names();
            if (!protocol.documents.writable(names)) {
                protocol.documents.onWritable(names, channel.eventLoop(), false, session.waiting.add(() -> {
                    awaitingSpace = false;
                    progress();
                }));
                awaitingSpace = true;
                return;
            }
            place = openReply();
            Function<DocumentEdits, Reply> change = action.prepare(session, command, names);
            protocol.documents.willWrite(channel.eventLoop(), names);
            write(names, change, place);
        } catch (RuntimeException rejected) {
            (place == null ? openReply() : place).complete(CommandException.reply(rejected));
        }
    }

    /**
     * Applies a write on this thread. If values must first be read or validated, or if the write does not fit into the
     * store now, a reading thread continues it.
     */
    private void write(Collection<DocumentName> names, Function<DocumentEdits, Reply> change, PendingReply place) {
        Prefetch prefetch;
        try {
            if (!protocol.documents.write(names, change, protocol.noPrefetch, place)) {
                undecided = place;
            }
            return;
        } catch (UnpreparedException later) {
            prefetch = later.prefetch();
        } catch (NotWritableException later) {
            prefetch = protocol.noPrefetch.own();
        }
        place.read = () -> finishWrite(names, change, prefetch, place);
        readWith(place);
    }

    /** Applies a write on a reading thread. Returns false if the write must wait for space in the store. */
    private boolean finishWrite(
            Collection<DocumentName> names,
            Function<DocumentEdits, Reply> change,
            Prefetch prefetch,
            PendingReply place) {
        session.requireStillKnown();
        if (!protocol.documents.writable(names)) {
            protocol.documents.onWritable(names, channel.eventLoop(), false, session.waiting.add(place::wake));
            return false;
        }
        protocol.documents.prepare(prefetch);
        // The copied values stay in memory until the write is durable.
        place.hold(prefetch.copiedBytes());
        try {
            protocol.documents.writeWaiting(names, change, prefetch, place);
            return true;
        } catch (NotWritableException tooLarge) {
            // The store is writable, but the write needs more space. Copies that are held while writes wait could use
            // all memory for replies, and the writes could then not go on.
            prefetch.releaseCopies();
            place.hold(0);
            protocol.documents.onWritable(names, channel.eventLoop(), true, session.waiting.add(place::wake));
            return false;
        }
    }

    private PendingReply openReply() {
        Command command = waiting.remove() instanceof Command known ? known : null;
        return replies.open(session, command, nowNanos);
    }

    /** Passes a read to a reading thread, together with the reads that directly follow it. */
    private void readWith(PendingReply first) {
        List<PendingReply> together = new ArrayList<>();
        together.add(first);
        while (nextReads() && together.size() < MAX_READS_TOGETHER) {
            together.add(openReply());
        }
        ReadBatch reads = new ReadBatch(session, protocol.readers, together, () -> {
            batchPaused = true;
            progress();
        });
        batch = reads;
        batchPaused = false;
        reads.begin(protocol.documents.readBarrier());
    }

    /** Whether the next request may run now and belongs on a reading thread. */
    private boolean nextReads() {
        return waiting.peek() instanceof Command command
                && command.spec.action instanceof Action.Read
                && rejection(command) == null;
    }
}
