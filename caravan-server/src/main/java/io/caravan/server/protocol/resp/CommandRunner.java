package io.caravan.server.protocol.resp;

import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Preparation;
import io.caravan.server.document.Preparation.UnpreparedException;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.Request;
import io.caravan.server.protocol.resp.codec.RequestDecoder;
import io.caravan.server.protocol.resp.dispatch.Action;
import io.caravan.server.protocol.resp.dispatch.Change;
import io.caravan.server.protocol.resp.dispatch.CommandGate;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandTable;
import io.caravan.server.protocol.resp.dispatch.ReadBatch;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Transaction;
import io.caravan.server.protocol.resp.reply.Errors;
import io.caravan.server.protocol.resp.reply.PendingReply;
import io.caravan.server.protocol.resp.reply.ReplyQueue;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs one connection's requests in their order.
 *
 * <p>A write is handed to the store at once and answered later. Consecutive reads go to a reading thread together, and
 * what follows waits until they are done: so a read sees every write before it, because the store has accepted it, and
 * none behind it. Nothing runs while the store has no room, a write waits for a document from the archive, too many
 * answers are pending, or the client does not take what there is; {@link #full()} then tells the connection to read no
 * more. The event loop's alone.
 */
final class CommandRunner implements RequestDecoder.Intake {
    /** Requests that may wait to be run; what has been read from the socket may go beyond. */
    private static final int MAX_WAITING = 128;

    private static final int MAX_READS_TOGETHER = 64;

    private final RespService service;
    private final Channel channel;
    private final Session session;
    private final ReplyQueue replies;
    private final CommandTable table;
    private final DocumentService documents;
    private final Executor readers;
    private final Runnable progress;
    private final int maxPending;
    private final long maxReadBytes;

    private final Deque<Request> waiting = new ArrayDeque<>();
    /** Reads that are under way. */
    private @Nullable ReadBatch batch;
    /** Whether they have left their thread. */
    private boolean batchPaused;

    private boolean awaitingRoom;
    /** The answer to a write that waits, or has waited, for a document from the archive: the store has not decided on it. */
    private @Nullable PendingReply undecided;

    private boolean refusedLast;

    /**
     * Makes a runner that has nothing to do.
     *
     * @param progress is run on the event loop when requests can be run that had to wait; it calls {@link #run()}
     */
    CommandRunner(Channel channel, Session session, ReplyQueue replies, RespService service, Runnable progress) {
        this.service = service;
        this.channel = channel;
        this.session = session;
        this.replies = replies;
        this.table = service.table();
        this.documents = service.documents();
        this.readers = service.readers();
        this.progress = progress;
        this.maxPending = service.limits().maxPending();
        this.maxReadBytes = service.limits().maxRequestBytes();
    }

    /** Takes the next request, and runs it if it need not wait. */
    void offer(Request request) {
        if (!session.quitting()) {
            waiting.add(request);
            run();
        }
    }

    /** Whether reading from the socket must pause. */
    boolean full() {
        return session.quitting() || mustWait();
    }

    /** After the last request there is room for any number: they are dropped. */
    @Override
    public boolean open() {
        return session.quitting() || !mustWait();
    }

    @Override
    public boolean stranger() {
        return session.stranger();
    }

    /** What a stranger sends may make it known: what comes behind that is another's. */
    private boolean mustWait() {
        return awaitingRoom
                || awaitingDocument()
                || !waiting.isEmpty() && stranger()
                || waiting.size() >= MAX_WAITING
                || replies.size() >= maxPending
                || !answersAreTaken();
    }

    /** Whether every request so far has been run and its answer written. */
    boolean idle() {
        return waiting.isEmpty() && replies.size() == 0;
    }

    /** Whether the connection ends with an error, and the client may still be sending. */
    boolean refusedLast() {
        return refusedLast;
    }

    /** Drops what waits: the connection is gone. */
    void close() {
        session.quit();
        waiting.clear();
    }

    /** Runs what can be run now. */
    void run() {
        if (batch != null && batchPaused) {
            goOnReading(batch);
        }
        while (batch == null
                && !awaitingRoom
                && !awaitingDocument()
                && replies.size() < maxPending
                && answersAreTaken()
                && !waiting.isEmpty()
                && answerHasRoom()) {
            runNext();
        }
    }

    private void goOnReading(ReadBatch paused) {
        if (paused.finished()) {
            batch = null;
        } else if (answersAreTaken() && replies.roomOrWake()) {
            batchPaused = false;
            paused.start();
        }
    }

    /** Whether there is room for more answers, by the memory that they take. */
    private boolean answersAreTaken() {
        return channel.isWritable() && !replies.full() && replies.mayAnswer();
    }

    /** Reads wait for room, because their answers may be large; writes do not, so that nobody stops them by not reading. */
    private boolean answerHasRoom() {
        return replies.room() || nextRead() == null || replies.roomOrWake();
    }

    private void runNext() {
        Request next = waiting.element();
        if (next instanceof Request.Malformed malformed) {
            answerLast("ERR Protocol error: " + malformed.problem());
            return;
        }
        if (next instanceof Request.Refused refused) {
            answerLast(refused.error());
            return;
        }
        Command command = (Command) next;
        CommandSpec spec = table.find(command);
        Reply.Error refusal = CommandGate.refuse(session, spec, command);
        if (spec == null || refusal != null) {
            refuse(refusal);
        } else if (session.transaction() != null && !spec.atOnce()) {
            queue(session.transaction(), spec, command);
        } else if (spec.action() instanceof Action.Immediate action) {
            answer(action, command);
        } else if (spec.action() instanceof Action.Write action) {
            write(action, command);
        } else {
            read();
        }
    }

    private void answerLast(String error) {
        takePlace().complete(new Reply.Error(error));
        refusedLast = true;
        session.quit();
        waiting.clear();
    }

    private void refuse(Reply.@Nullable Error refusal) {
        Transaction transaction = session.transaction();
        if (transaction != null) {
            transaction.spoil();
        }
        takePlace().complete(Objects.requireNonNull(refusal));
    }

    private void queue(Transaction transaction, CommandSpec spec, Command command) {
        try {
            Reply queued = transaction.queue(session, spec, command);
            takePlace().complete(queued);
        } catch (RuntimeException refused) {
            refuse(Errors.reply(refused));
        }
    }

    private void answer(Action.Immediate action, Command command) {
        PendingReply place = takePlace();
        try {
            place.complete(action.run(session, command));
        } catch (RuntimeException problem) {
            place.complete(Errors.reply(problem));
        }
        if (session.quitting()) {
            waiting.clear();
        }
    }

    private void write(Action.Write action, Command command) {
        PendingReply place = null;
        try {
            if (!documents.writable()) {
                awaitRoom();
                return;
            }
            place = takePlace();
            documents.willWrite(channel.eventLoop());
            write(action.prepare(session, command), command, place);
        } catch (RuntimeException refused) {
            (place == null ? takePlace() : place).complete(Errors.reply(refused));
        }
    }

    /** Makes a change here, or, when it needs what takes time, on a reading thread. */
    private void write(Change change, Command command, PendingReply place) {
        Preparation preparation = new Preparation(maxReadBytes);
        try {
            if (!documents.write(change.names(), change.edit(), preparation, place)) {
                undecided = place;
            }
        } catch (UnpreparedException unprepared) {
            Action.Stream apart = (s, c, context) -> () -> finishWrite(change, preparation, context);
            readWith(apart, command, place);
        }
    }

    /** A turn of a change on a reading thread. */
    private boolean finishWrite(Change change, Preparation preparation, Reading.Context context) {
        context.checkStillKnown();
        if (!documents.writable()) {
            documents.onWritable(context.wake());
            return false;
        }
        documents.prepare(preparation);
        // Or the values of many would wait together for their changes to be durable.
        context.place().hold(preparation.copiedBytes());
        documents.writeWaiting(change.names(), change.edit(), preparation, context.place());
        return true;
    }

    private PendingReply takePlace() {
        Request request = waiting.remove();
        Command command = request instanceof Command known ? known : null;
        CommandSpec spec = command == null ? null : table.find(command);
        return replies.open(session.protocol(), service.watch(session, spec, command));
    }

    private void awaitRoom() {
        documents.onWritable(() -> channel.eventLoop().execute(this::roomFound));
        awaitingRoom = true;
    }

    /**
     * Whether a write waits for a document from the archive: what follows could come before it. Its answer, once there
     * is one, has this connection go on.
     */
    private boolean awaitingDocument() {
        return undecided != null && !undecided.done();
    }

    private void roomFound() {
        awaitingRoom = false;
        progress.run();
    }

    private void read() {
        Command command = (Command) waiting.element();
        readWith(Objects.requireNonNull(nextRead()), command, takePlace());
    }

    /** Hands a read to a reading thread, and those behind it with it. */
    private void readWith(Action first, Command of, PendingReply place) {
        ReadBatch reads = new ReadBatch(channel, session, readers, replies, this::readsPaused);
        reads.add(first, of, place);
        Action action = nextRead();
        while (action != null && reads.size() < MAX_READS_TOGETHER) {
            Command command = (Command) waiting.element();
            reads.add(action, command, takePlace());
            action = nextRead();
        }
        batch = reads;
        batchPaused = false;
        reads.start();
    }

    /** What the next request does, or null when it is none that may go to a reading thread. */
    private @Nullable Action nextRead() {
        if (!(waiting.peek() instanceof Command command)) {
            return null;
        }
        CommandSpec spec = table.find(command);
        if (spec == null || CommandGate.refuse(session, spec, command) != null) {
            return null;
        }
        Action action = spec.action();
        return action instanceof Action.Read || action instanceof Action.Stream ? action : null;
    }

    private void readsPaused() {
        batchPaused = true;
        progress.run();
    }
}
