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
 * {@code CARAVAN.READ}: the values from a sequence on, and, with {@code BLOCK}, a wait for them while there are none. A
 * wait holds no thread. It ends with the first value, when the document is closed, after its time, and when the client
 * goes or the server stops.
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
    /** The event loop's. */
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

    /** Looks at the document, and ends the wait unless it was in vain; returns whether the answer has been given. */
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

    /** Returns false when there was a change meanwhile. */
    private boolean leave(ChangeWait wait) {
        schedule();
        return wait.leave();
    }

    /** Looks at the document: answers, or makes a stream of what there is, or does neither because there is nothing. */
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

    /** Sees to it that the wait ends; once. */
    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            loop.execute(() -> {
                timeout = loop.schedule(this::giveUp, options.blockMillis(), TimeUnit.MILLISECONDS);
                session.onEnding(this::giveUp);
            });
        }
    }

    /** The next look at the document is the last one; on the event loop. */
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

    /** {@code [next sequence, [[sequence, value], ...], at the end of a closed document, id of the document]}. */
    private static final class Format implements ValueStream.Format {
        private final Protocol protocol;
        private final long from;
        private final BooleanSupplier atEnd;
        private final LongSupplier documentId;

        /**
         * A format for one answer.
         *
         * @param from the sequence that was asked for
         * @param atEnd whether nothing can ever follow the values; asked after the last one
         * @param documentId asked then too
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
     * @param count greatest number of values
     * @param blockMillis how long to wait for the first one; 0 is not at all
     */
    private record Options(long from, long count, long blockMillis) {
        /** Stands for the sequence that the next value will get: {@code $}. */
        static final long LATEST = -1;
        /** The longest wait, so that none is left for ever; clients ask again. */
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
     * One wait for a document to change. It begins before the look at the document, so that no change is missed. If
     * that finds nothing, the wait is {@linkplain #leave() left}, and the next change wakes the reading, once.
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
         * A wait that has not begun.
         *
         * @param woken is run on the thread that wakes
         */
        ChangeWait(DocumentService documents, DocumentName name, Runnable woken) {
            this.documents = documents;
            this.name = name;
            this.woken = woken;
        }

        /** Begins to take notice of changes. */
        void begin() {
            tail = documents.onChange(name, this::wake);
        }

        /** Lets a change wake the reading; returns false when one came already, so that none will. */
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
