package io.caravan.server.protocol.resp;

import io.caravan.NotWritableException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Prefetch;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespRequest;
import io.caravan.server.protocol.resp.codec.RespRequestDecoder;
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
final class RespHandler extends Connection implements RespRequestDecoder.Intake {
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

    /** The number of requests that have been decoded. */
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
        this.replies = new ReplyQueue(channel, channel.eventLoop(), memory, this::progress, () -> inProgress);
        this.session = protocol.newSession(channel, replies);
        this.decoder = new RespRequestDecoder(protocol.limits, this);
        memory.onRoom(this::progress);
        memory.waitingFor(this::waitingNanos);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object request) {
        requests++;
        memory.requestArrived();
        offer(
                stopping && !protocol.redirects()
                        ? new RespRequest.Rejected("ERR the server is stopping")
                        : (RespRequest) request);
    }

    /** Accepts the next request, and runs the request unless it must wait. */
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
        return !awaitingSpace
                && !awaitingDocument()
                && replies.size() < protocol.limits.maxPending()
                && repliesAreReceived();
    }

    @Override
    public boolean idle() {
        return repliedAll() && decoder.unfinishedBytes() == 0;
    }

    /** Whether all decoded requests have run, and all replies have been written. */
    private boolean repliedAll() {
        return waiting.isEmpty() && replies.isEmpty();
    }

    /** Returns how long a blocking request has waited, in nanoseconds; 0 if there is none. Callable on any thread. */
    private long waitingNanos() {
        ReadBatch current = batch;
        return current == null ? 0 : current.waitingNanos();
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
        channel.eventLoop()
                .schedule(
                        () -> {
                            noMoreRequests = true;
                            progress();
                        },
                        STOP_GRACE.toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    /**
     * Runs requests and writes replies for one limited turn, so that other connections of the event loop get their
     * turns. Writing a reply can free space for more requests, and can call this method again. A failure closes only
     * this connection.
     */
    private void progress() {
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
                more |= requests != before;
                if (more || moreProgress || readOnOrClose()) {
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

    /** Resumes or pauses reading, or closes the connection. Returns whether held-back requests have space now. */
    private boolean readOnOrClose() {
        if (repliedAll()) {
            memory.settle(decoder.unfinishedBytes(), !decoder.paused() || !mustWait());
        }
        closeWhenDone();
        boolean reads = !session.quitting && !mustWait() && channel.isWritable() && memory.mayRead();
        if (!closing) {
            channel.config().setAutoRead(reads);
        }
        return reads && decoder.paused() && memory.mayDecode();
    }

    private void closeWhenDone() {
        boolean done = repliedAll() && (session.quitting || noMoreRequests && !decoder.paused());
        if (done && !closing) {
            boolean lingers = rejectedLast || stopping;
            closeWhenSent(lingers ? () -> stopping ? STOP_LINGER : LINGER : null);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        protocol.forget(session);
        session.end();
        session.transaction(null);
        session.subscriptions.removeAll();
        session.quitting = true;
        session.waiting.close();
        waiting.clear();
        replies.close();
    }

    /** Runs the requests that can run now. */
    private void run() {
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
            readWith(read(spec));
        }
    }

    private void rejectLast(String error) {
        openReply(null).complete(new Reply.Error(error));
        rejectedLast = true;
        session.quitting = true;
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
            Reply reply = action.run(session, command);
            // HELLO and RESET reply in the protocol version to which they switch.
            place.protocol = session.protocol;
            place.complete(reply);
        } catch (RuntimeException problem) {
            place.complete(Errors.reply(problem));
            rejectedLast = session.quitting;
        }
        if (session.quitting) {
            waiting.clear();
        }
    }

    private void write(Action.Write action, CommandSpec spec, Command command) {
        PendingReply place = null;
        try {
            Collection<DocumentName> names = firstNames(spec, command);
            if (!protocol.documents.writable(names)) {
                protocol.documents.onWritable(names, channel.eventLoop(), false, session.waiting.add(this::spaceFound));
                awaitingSpace = true;
                return;
            }
            place = openReply(spec);
            Change change = action.prepare(session, command);
            protocol.documents.willWrite(channel.eventLoop(), change.names());
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
        if (protocol.documents.shards() == 1) {
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
            if (!protocol.documents.write(change.names(), change.edit(), protocol.noPrefetch, place)) {
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
        readWith(new ReadBatch.Step(apart, command, place, false, false));
    }

    /** Applies a write on a reading thread. Returns false if the write must wait for space in the store. */
    private boolean finishWrite(Change change, Prefetch prefetch, ResumableRead.Context context) {
        session.requireStillKnown();
        if (!protocol.documents.writable(change.names())) {
            protocol.documents.onWritable(
                    change.names(), channel.eventLoop(), false, session.waiting.add(context.wake()));
            return false;
        }
        protocol.documents.prepare(prefetch);
        // The copied values stay in memory until the write is durable.
        context.place().hold(prefetch.copiedBytes());
        try {
            protocol.documents.writeWaiting(change.names(), change.edit(), prefetch, context.place());
            return true;
        } catch (NotWritableException tooLarge) {
            // The store is writable, but the write needs more space. Copies that are held while writes wait could use
            // all memory for replies, and the writes could then not go on.
            prefetch.releaseCopies();
            context.place().hold(0);
            protocol.documents.onWritable(
                    change.names(), channel.eventLoop(), true, session.waiting.add(context.wake()));
            return false;
        }
    }

    /** Opens the reply to the next request; {@code spec} is null if its command does not exist. */
    private PendingReply openReply(@Nullable CommandSpec spec) {
        Command command = waiting.remove() instanceof Command known ? known : null;
        return replies.open(new PendingReply(replies, protocol, session, spec, command, nowNanos));
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
        progress();
    }

    private ReadBatch.Step read(CommandSpec spec) {
        Command command = (Command) waiting.element();
        return new ReadBatch.Step(spec.action(), command, openReply(spec), spec.readsDocuments(), spec.blocks());
    }

    /** Passes a read to a reading thread, together with the reads that directly follow it. */
    private void readWith(ReadBatch.Step first) {
        List<ReadBatch.Step> steps = new ArrayList<>();
        steps.add(first);
        CommandSpec next = nextRead();
        while (next != null && steps.size() < MAX_READS_TOGETHER) {
            steps.add(read(next));
            next = nextRead();
        }
        ReadBatch reads = new ReadBatch(session, protocol.readers, steps, this::readsPaused);
        batch = reads;
        batchPaused = false;
        reads.begin(protocol.documents.readBarrier());
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
        progress();
    }
}
