package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ChangeWait;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Executes {@code CARAVAN.READ}: returns the values starting at a sequence. With {@code BLOCK}, the command waits if no
 * values exist yet, without occupying a thread. The command extends a sliding expiry once, even if there are no values;
 * the wait does not. The wait ends with the first value, when the document is closed, at the
 * timeout, when the client disconnects, or when the server stops.
 */
final class TailRead extends ValueStream {
    /** Stands for {@code $}: the sequence that the next value will get. */
    private static final long LATEST = -1;
    /** Maximum wait, so that no wait lasts forever. To wait longer, clients repeat the request. */
    private static final long MAX_BLOCK_MILLIS = 3_600_000;

    private static final int FROM_WORD = 3;

    private final Session session;

    private long count = Long.MAX_VALUE;
    /** Maximum time to wait for the first value; 0 to reply immediately. */
    private long blockMillis;
    /** The first sequence to read, or {@link #LATEST}. */
    private long from;

    /** Whether the document has values to return. */
    private boolean found;

    private boolean endsClosed;
    private long foundId;
    /** The wait for the first value; null if the command has not begun to wait. */
    private @Nullable ChangeWait wait;

    private boolean lastCheck;

    TailRead(DocumentService documents, PendingReply place) {
        super(documents, place);
        this.session = place.session;
        Command command = place.command();
        if (!command.is(2, "FROM")) {
            throw CommandException.syntax();
        }
        from = command.is(FROM_WORD, "$") ? LATEST : command.count(FROM_WORD);
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
        if (count == 0) {
            throw new CommandException("ERR COUNT must be 1 or more");
        }
        if (blockMillis > MAX_BLOCK_MILLIS) {
            throw new CommandException(
                    "ERR BLOCK must be at most " + MAX_BLOCK_MILLIS + " ms; repeat the command after that");
        }
    }

    @Override
    public boolean proceed() {
        if (found) {
            return super.proceed();
        }
        boolean replied = false;
        boolean inVain = false;
        try {
            replied = replied();
            inVain = !replied && !found;
        } finally {
            if (inVain) {
                session.channel.eventLoop().execute(this::rest);
            } else if (wait != null) {
                session.channel.eventLoop().execute(wait::close);
            }
        }
        return replied || !inVain && super.proceed();
    }

    /** Waits for the next change to the document. Called on the event loop. */
    private void rest() {
        if (wait != null) {
            wait.checked(List.of());
            return;
        }
        wait = new ChangeWait(
                session.channel.eventLoop(), 1, documents::onChange, this::check, () -> session.onEnding(null));
        wait.begin(List.of(name), Duration.ofMillis(blockMillis), wait::expire);
        session.onEnding(wait::expire);
    }

    private void check(List<DocumentName> names) {
        lastCheck = names.isEmpty();
        place.wake();
    }

    /**
     * Checks the document, and completes the reply or finds that there are values. Does neither if the command must
     * wait. Returns whether the reply is complete.
     */
    private boolean replied() {
        session.requireStillKnown();
        DocumentInfo info = documents.find(name);
        long next = info == null ? 0 : info.nextSequence();
        if (from == LATEST) {
            from = next;
        }
        check(info == null ? 0 : info.firstSequence(), next);
        if (info != null && from < next) {
            found = true;
            return false;
        }
        if (info != null && wait == null) {
            documents.use(name, info);
        }
        boolean closed = info != null && info.attributes().closed();
        if (blockMillis > 0 && !lastCheck && !closed) {
            return false;
        }
        place.complete(Reply.Array.of(from, Reply.Array.EMPTY, closed, info == null ? null : info.id()));
        return true;
    }

    private void check(long first, long next) {
        if (from < first) {
            throw new CommandException("TRIMMED sequence " + from + " was trimmed; the first retained one is " + first);
        }
        if (from > next) {
            throw new CommandException("OUTOFRANGE sequence " + from + " is after the next one, " + next
                    + "; the document was deleted after you read it, or this is another document");
        }
    }

    @Override
    SequenceRange select(DocumentInfo info) {
        check(info.firstSequence(), info.nextSequence());
        long to = Math.min(info.nextSequence(), from + Math.min(count, Long.MAX_VALUE - from));
        foundId = info.id();
        endsClosed = info.attributes().closed() && to == info.nextSequence();
        return new SequenceRange(from, to);
    }

    /** Writes the beginning of {@code [next, [[sequence, value], ...], whether no value can follow, document id]}. */
    @Override
    void writeBegin(ByteBuf out, long count) {
        if (count == 0) {
            // The document was deleted after its values were chosen.
            endsClosed = false;
            foundId = 0;
        }
        Reply.putNumber(out, '*', 4);
        Reply.putNumber(out, ':', from + count);
        Reply.putNumber(out, '*', count);
    }

    @Override
    void writeBefore(ByteBuf out, long sequence) {
        Reply.putNumber(out, '*', 2);
        Reply.putNumber(out, ':', sequence);
    }

    @Override
    void writeEnd(ByteBuf out) {
        new Reply.Bool(endsClosed).encode(out, session.resp3);
        // No range was chosen if the document was deleted before the read began.
        Reply.of(foundId == 0 ? null : foundId).encode(out, session.resp3);
    }
}
