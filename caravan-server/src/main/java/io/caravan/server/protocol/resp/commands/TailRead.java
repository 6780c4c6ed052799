package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.ReadContext;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * {@code CARAVAN.READ}: the values from a sequence on, and, with {@code BLOCK}, a wait for them while there are none. Whoever
 * waits holds no thread. The wait ends with the first value, when the document is closed, after its time, and when the
 * client goes or the server stops.
 */
final class TailRead implements Reading {
    private final DocumentService documents;
    private final DocumentName name;
    private final TailOptions options;
    private final Session session;
    private final ReadContext context;
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

    TailRead(DocumentService documents, Session session, Command command, ReadContext context) {
        this.documents = documents;
        this.name = ListCommands.name(command);
        this.options = TailOptions.of(command);
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
        if (from == TailOptions.LATEST) {
            from = next;
        }
        check(info == null ? 0 : info.firstSequence(), next);
        if (info != null && from < next) {
            stream = new ValueStream(
                    documents,
                    name,
                    this::choose,
                    new TailFormat(session.protocol(), from, () -> endsClosed, () -> documentId),
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
}
