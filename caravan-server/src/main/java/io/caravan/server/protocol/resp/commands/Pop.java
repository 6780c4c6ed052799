package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.server.protocol.resp.dispatch.ReadContext;
import io.caravan.server.protocol.resp.dispatch.Reading;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code LPOP}: reads the oldest values on a reading thread, then trims them in a change that makes sure that they still are
 * the oldest; when somebody else was quicker, again. So no value is told twice, and none is dropped that was not told.
 */
final class Pop implements Reading {
    private final DocumentService documents;
    private final DocumentName name;
    private final ReadContext context;
    private final long count;
    private final boolean single;
    private final long maxBytes;

    /** Somebody else was quicker. */
    private static final class Moved extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Moved() {
            super(null, null, false, false);
        }
    }

    Pop(DocumentService documents, RespLimits limits, Command command, ReadContext context) {
        if (command.size() > 3) {
            throw CommandException.wrongArity("lpop");
        }
        this.documents = documents;
        this.name = ListCommands.name(command);
        this.context = context;
        this.single = command.size() == 2;
        this.count = single ? 1 : command.count(2);
        this.maxBytes = limits.maxRequestBytes();
    }

    @Override
    public boolean proceed() {
        context.checkStillKnown();
        if (!documents.writable()) {
            documents.onWritable(context.wake());
            return false;
        }
        boolean settled = false;
        while (!settled) {
            settled = tryOnce();
        }
        return true;
    }

    private boolean tryOnce() {
        Head head = new Head();
        documents.read(name, head::choose, head);
        if (head.info == null) {
            context.place().complete(single ? Reply.Null.BULK : Reply.Null.ARRAY);
            return true;
        }
        if (head.values.isEmpty()) {
            context.place().complete(Reply.Array.EMPTY);
            return true;
        }
        // Or the values of many would wait together for their trims to be durable.
        context.place().hold(head.bytes);
        try {
            // What has been read is in the store, whatever an archive has.
            documents.writeLocal(name, document -> take(document, head), context.place());
            return true;
        } catch (Moved meanwhile) {
            return false;
        }
    }

    private Reply take(EditedDocument document, Head read) {
        DocumentInfo was = read.info();
        DocumentInfo now = Presence.of(document);
        if (now == null || now.id() != was.id() || now.firstSequence() != was.firstSequence()) {
            throw new Moved();
        }
        Presence.trim(document, now, now.firstSequence() + read.values.size());
        return single ? read.values.get(0) : new Reply.Array(List.copyOf(read.values));
    }

    /** The oldest values, as far as they were asked for. */
    private final class Head implements DocumentReader {
        private final List<Reply> values = new ArrayList<>();
        private @Nullable DocumentInfo info;
        private long bytes;

        DocumentInfo info() {
            if (info == null) {
                throw new IllegalStateException("nothing has been read");
            }
            return info;
        }

        SequenceRange choose(DocumentInfo found) {
            info = found.count() == 0 ? null : found;
            long first = found.firstSequence();
            return new SequenceRange(first, first + Math.min(count, found.count()));
        }

        @Override
        public void begin(long number) {
            values.clear();
            bytes = 0;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            bytes += value.remaining() + RespLimits.WORD_OVERHEAD_BYTES;
            if (bytes > maxBytes && !values.isEmpty()) {
                throw new CommandException("ERR LPOP would answer more than " + maxBytes
                        + " bytes; use a smaller count, or LRANGE and then LTRIM");
            }
            byte[] copy = new byte[value.remaining()];
            value.get(copy);
            values.add(new Reply.Bulk(copy));
            return true;
        }
    }
}
