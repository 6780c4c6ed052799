package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ChangeWait;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Executes {@code CARAVAN.READ}: returns the values starting at a sequence. With {@code BLOCK}, the command waits if no
 * values exist yet, without occupying a thread. The command extends a sliding expiry once, even if there are no values;
 * the wait does not. The wait ends with the first value, when the document is closed, at the
 * timeout, when the client disconnects, or when the server stops.
 */
final class TailRead implements ResumableRead {
    /** Stands for {@code $}: the sequence that the next value will get. */
    private static final long LATEST = -1;
    /** Maximum wait, so that no wait lasts forever. To wait longer, clients repeat the request. */
    private static final long MAX_BLOCK_MILLIS = 3_600_000;

    private static final int FROM_WORD = 3;

    private final DocumentService documents;
    private final DocumentName name;
    private final Session session;
    private final ResumableRead.Context context;

    /** Maximum number of values. */
    private long count = Long.MAX_VALUE;
    /** Maximum time to wait for the first value; 0 to reply immediately. */
    private long blockMillis;
    /** The first sequence to read, or {@link #LATEST}. */
    private long from;

    private @Nullable ValueStream stream;
    private boolean endsClosed;
    private long documentId;
    /** The wait for the first value; null if the command has not begun to wait. */
    private @Nullable ChangeWait wait;

    private boolean lastCheck;

    TailRead(DocumentService documents, Command command, ResumableRead.Context context) {
        this.documents = documents;
        this.name = ListCommands.name(command);
        this.session = context.session();
        this.context = context;
        parse(command);
    }

    private void parse(Command command) {
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
        if (stream != null) {
            return stream.proceed();
        }
        boolean replied = false;
        boolean inVain = false;
        try {
            replied = replied();
            inVain = !replied && stream == null;
        } finally {
            if (inVain) {
                session.channel.eventLoop().execute(this::rest);
            } else if (wait != null) {
                session.channel.eventLoop().execute(wait::close);
            }
        }
        return replied || !inVain && Objects.requireNonNull(stream).proceed();
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
        context.wake().run();
    }

    /**
     * Checks the document, and completes the reply or creates a stream of the values. Does neither if the command must
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
            stream = new ValueStream(documents, name, this::choose, new Format(), context);
            return false;
        }
        if (info != null && wait == null) {
            documents.use(name, info);
        }
        boolean closed = info != null && info.attributes().closed();
        if (blockMillis > 0 && !lastCheck && !closed) {
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
            throw new CommandException("TRIMMED sequence " + from + " was trimmed; the first retained one is " + first);
        }
        if (from > next) {
            throw new CommandException("OUTOFRANGE sequence " + from + " is after the next one, " + next
                    + "; the document was deleted after you read it, or this is another document");
        }
    }

    private SequenceRange choose(DocumentInfo info) {
        check(info.firstSequence(), info.nextSequence());
        long to = Math.min(info.nextSequence(), from + Math.min(count, Long.MAX_VALUE - from));
        documentId = info.id();
        endsClosed = info.attributes().closed() && to == info.nextSequence();
        return new SequenceRange(from, to);
    }

    /** Writes {@code [next sequence, [[sequence, value], ...], whether no value can follow, document id]}. */
    private final class Format implements ValueStream.Format {
        @Override
        public void begin(ByteBuf out, long count) {
            if (count == 0) {
                // The document was deleted after its values were chosen.
                endsClosed = false;
                documentId = 0;
            }
            Reply.putNumber(out, '*', 4);
            Reply.putNumber(out, ':', from + count);
            Reply.putNumber(out, '*', count);
        }

        @Override
        public void beforeValue(ByteBuf out, long sequence) {
            Reply.putNumber(out, '*', 2);
            Reply.putNumber(out, ':', sequence);
        }

        @Override
        public void end(ByteBuf out) {
            new Reply.Bool(endsClosed).encode(out, session.protocol);
            // No range was chosen if the document was deleted before the read began.
            Reply.of(documentId == 0 ? null : documentId).encode(out, session.protocol);
        }
    }
}
