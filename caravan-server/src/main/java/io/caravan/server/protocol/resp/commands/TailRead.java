package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.document.Tail;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespBytes;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Executes {@code CARAVAN.READ}: returns the values starting at a sequence. With {@code BLOCK}, it waits for them while
 * none exist. A wait occupies no thread. It ends with the first value, when the document is closed, at its timeout,
 * when the client disconnects, or when the server stops.
 */
final class TailRead implements Reading {
    private final DocumentService documents;
    private final DocumentName name;
    private final Options options;
    private final Session session;
    private final Reading.Context context;
    private final EventLoop loop;

    private long from;
    private @Nullable ValueStream stream;
    private boolean endsClosed;
    private long documentId;
    private boolean scheduled;
    private volatile @Nullable ChangeWait current;
    private volatile boolean over;
    /** Used by the event loop. */
    private @Nullable Future<?> timeout;

    TailRead(DocumentService documents, Session session, Command command, Reading.Context context) {
        this.documents = documents;
        this.name = ListCommands.name(command);
        this.options = Options.of(command);
        this.session = session;
        this.context = context;
        this.loop = context.channel().eventLoop();
        this.from = options.from();
    }

    @Override
    public boolean proceed() {
        while (stream == null) {
            ChangeWait wait = new ChangeWait(documents, name, context.wake());
            current = wait;
            if (look(wait)) {
                return true;
            }
            if (stream == null && leave(wait)) {
                return false;
            }
        }
        return stream.proceed();
    }

    /** Checks the document, and ends the wait unless the check was in vain; returns whether the reply is complete. */
    private boolean look(ChangeWait wait) {
        boolean mayWait = options.blocks() && !over;
        if (mayWait) {
            wait.begin();
        }
        boolean inVain = false;
        try {
            boolean answered = answered(mayWait);
            inVain = !answered && stream == null;
            return answered;
        } finally {
            if (!inVain) {
                wait.cancel();
                endWait();
            }
        }
    }

    /** Waits for the next change; returns false if the document has changed since the wait began. */
    private boolean leave(ChangeWait wait) {
        schedule();
        return wait.leave();
    }

    /** Checks the document: completes the reply, creates a stream of the values, or, if it must wait, does neither. */
    private boolean answered(boolean mayWait) {
        context.checkStillKnown();
        DocumentInfo info = documents.find(name);
        long next = info == null ? 0 : info.nextSequence();
        if (from == Options.LATEST) {
            from = next;
        }
        check(info == null ? 0 : info.firstSequence(), next);
        if (info != null && from < next) {
            stream = new ValueStream(
                    documents,
                    name,
                    this::choose,
                    new Format(session.protocol(), from, () -> endsClosed, () -> documentId),
                    context);
            return false;
        }
        boolean closed = info != null && info.attributes().closed();
        if (mayWait && !closed) {
            return false;
        }
        context.place()
                .complete(new Reply.Array(List.of(
                        new Reply.Number(from),
                        Reply.Array.EMPTY,
                        new Reply.Bool(closed),
                        info == null ? Reply.Null.BULK : new Reply.Number(info.id()))));
        return true;
    }

    private void check(long first, long next) {
        if (from < first) {
            throw new CommandException(
                    "TRIMMED sequence " + from + " has been dropped, the first retained one is " + first);
        }
        if (from > next) {
            throw new CommandException("BEYOND sequence " + from + " is past the next one, " + next
                    + "; the document was deleted since you read it, or you ask for the wrong one");
        }
    }

    private SequenceRange choose(DocumentInfo info) {
        check(info.firstSequence(), info.nextSequence());
        long to = Math.min(info.nextSequence(), from + Math.min(options.count(), Long.MAX_VALUE - from));
        documentId = info.id();
        endsClosed = info.attributes().closed() && to == info.nextSequence();
        return new SequenceRange(from, to);
    }

    /** Schedules the end of the wait; once. */
    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            loop.execute(() -> {
                timeout = loop.schedule(this::giveUp, options.blockMillis(), TimeUnit.MILLISECONDS);
                session.onEnding(this::giveUp);
            });
        }
    }

    /** Ends the wait: the next check of the document is the last one. On the event loop. */
    private void giveUp() {
        over = true;
        ChangeWait wait = current;
        if (wait != null) {
            wait.wake();
        }
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    private void endWait() {
        if (scheduled) {
            loop.execute(() -> {
                session.onEnding(null);
                if (timeout != null) {
                    timeout.cancel(false);
                }
            });
        }
    }

    /**
     * Writes {@code [next sequence, [[sequence, value], ...], at the end of a closed document, id of the document]}.
     */
    private static final class Format implements ValueStream.Format {
        private final Protocol protocol;
        private final long from;
        private final BooleanSupplier atEnd;
        private final LongSupplier documentId;

        /**
         * Creates a format for one reply.
         *
         * @param from the requested sequence
         * @param atEnd whether no further value can follow; called after the last value
         * @param documentId called at that time also
         */
        Format(Protocol protocol, long from, BooleanSupplier atEnd, LongSupplier documentId) {
            this.protocol = protocol;
            this.from = from;
            this.atEnd = atEnd;
            this.documentId = documentId;
        }

        @Override
        public void begin(ByteBuf out, long count) {
            RespBytes.putNumber(out, '*', 4);
            RespBytes.putNumber(out, ':', from + count);
            RespBytes.putNumber(out, '*', count);
        }

        @Override
        public void beforeValue(ByteBuf out, long sequence) {
            RespBytes.putNumber(out, '*', 2);
            RespBytes.putNumber(out, ':', sequence);
        }

        @Override
        public void end(ByteBuf out) {
            new Reply.Bool(atEnd.getAsBoolean()).encode(out, protocol);
            RespBytes.putNumber(out, ':', documentId.getAsLong());
        }
    }

    /**
     * The words of {@code CARAVAN.READ key FROM seq [COUNT n] [BLOCK ms]}.
     *
     * @param from the first sequence to read, or {@link #LATEST}
     * @param count maximum number of values
     * @param blockMillis time to wait for the first value; 0 does not wait
     */
    private record Options(long from, long count, long blockMillis) {
        /** Stands for {@code $}: the sequence that the next value will get. */
        static final long LATEST = -1;
        /** Maximum wait, so that none lasts forever; clients repeat the request. */
        static final long MAX_BLOCK_MILLIS = 3_600_000;

        private static final int FROM_WORD = 3;

        static Options of(Command command) {
            if (!command.is(2, "FROM")) {
                throw CommandException.syntax();
            }
            long from = command.is(FROM_WORD, "$") ? LATEST : command.count(FROM_WORD);
            long count = Long.MAX_VALUE;
            long blockMillis = 0;
            for (int i = FROM_WORD + 1; i < command.size(); i += 2) {
                if (i + 1 == command.size()) {
                    throw CommandException.syntax();
                }
                switch (command.keyword(i)) {
                    case "COUNT" -> count = command.count(i + 1);
                    case "BLOCK" -> blockMillis = command.count(i + 1);
                    default -> throw CommandException.syntax();
                }
            }
            check(count > 0, "COUNT must be 1 or more");
            check(
                    blockMillis <= MAX_BLOCK_MILLIS,
                    "BLOCK must be at most " + MAX_BLOCK_MILLIS + " ms; ask again after that");
            return new Options(from, count, blockMillis);
        }

        private static void check(boolean holds, String otherwise) {
            if (!holds) {
                throw new CommandException("ERR " + otherwise);
            }
        }

        boolean blocks() {
            return blockMillis > 0;
        }
    }

    /**
     * A wait for one change of a document. It begins before the document is checked, so that no change is missed. If
     * the check finds nothing, the turn {@linkplain #leave() leaves} the wait, and the next change wakes the reading
     * once.
     */
    private static final class ChangeWait {
        private enum State {
            LOOKING,
            LEFT,
            OVER
        }

        private final DocumentService documents;
        private final DocumentName name;
        private final Runnable woken;
        private final AtomicReference<State> state = new AtomicReference<>(State.LOOKING);
        private @Nullable Tail tail;

        /**
         * Creates a wait that has not begun.
         *
         * @param woken runs on the thread that wakes the reading
         */
        ChangeWait(DocumentService documents, DocumentName name, Runnable woken) {
            this.documents = documents;
            this.name = name;
            this.woken = woken;
        }

        /** Begins to observe changes. */
        void begin() {
            tail = documents.onChange(name, this::wake);
        }

        /**
         * Leaves the wait to the next change, which wakes the reading; returns false if a change came already, so that
         * none will.
         */
        boolean leave() {
            boolean left = state.compareAndSet(State.LOOKING, State.LEFT);
            if (!left) {
                closeTail();
            }
            return left;
        }

        /** Ends the wait; on any thread. */
        void wake() {
            if (state.getAndSet(State.OVER) == State.LEFT) {
                closeTail();
                woken.run();
            }
        }

        /** Ends a wait that was not left. */
        void cancel() {
            state.set(State.OVER);
            closeTail();
        }

        private void closeTail() {
            if (tail != null) {
                tail.close();
            }
        }
    }
}
