package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a reply with any number of values of a document, and keeps only a small part of the reply in memory at a time.
 *
 * <p>A turn on a reading thread reads about {@value #TURN_BYTES} bytes, passes them to the event loop in chunks, and
 * releases the thread. The next turn begins when at most {@value #TURN_BYTES} bytes are waiting to be written to the
 * socket.
 *
 * <p>A slow client therefore occupies no thread, and pins no values in the store. If values are trimmed or deleted
 * before the client has received them, the connection is closed, because the reply cannot be completed.
 */
abstract class ValueStream implements ResumableRead, DocumentReader {
    private static final Logger LOG = LoggerFactory.getLogger(ValueStream.class);
    private static final int FIRST_PIECE_BYTES = 4 * 1024;
    private static final int PIECE_BYTES = 128 * 1024;
    private static final int TURN_BYTES = 512 * 1024;
    /** Upper bound on the number of bytes that the reply contains before and after a value. */
    private static final int AROUND_VALUE_BYTES = 64;

    final DocumentService documents;
    final DocumentName name;
    final PendingReply place;
    private final Channel channel;

    // Used only by the turns.
    private boolean begun;
    private long documentId;
    private long next;
    private long end;
    private int turnBytes;
    private @Nullable ByteBuf piece;
    private boolean sent;

    // Used only by the event loop.
    private long onTheirWay;
    private boolean waiting;

    /** Creates a stream of values of the document that the command names. */
    ValueStream(DocumentService documents, PendingReply place) {
        this.documents = documents;
        this.name = place.command().name();
        this.place = place;
        this.channel = place.session.channel;
    }

    /** Selects the values, in the first turn. An exception becomes the reply. */
    abstract SequenceRange select(DocumentInfo info);

    /** Writes the part of the reply that precedes all values. */
    void writeBegin(ByteBuf out, long count) {
        Reply.putNumber(out, '*', count);
    }

    /** Writes the part of the reply that precedes the value with this sequence. */
    void writeBefore(ByteBuf out, long sequence) {}

    /** Writes the part of the reply that follows all values. */
    void writeEnd(ByteBuf out) {}

    @Override
    public boolean proceed() {
        turnBytes = 0;
        try {
            place.session.requireStillKnown();
            documents.read(name, this::choose, this);
        } catch (RuntimeException problem) {
            fail(problem);
            return true;
        }
        if (next == end) {
            writeEnd(room());
            send(room(), place::end);
            return true;
        }
        send(room(), () -> {
            waiting = true;
            wakeIfRoom();
        });
        return false;
    }

    private SequenceRange choose(DocumentInfo info) {
        if (begun) {
            if (info.id() != documentId || info.firstSequence() > next) {
                throw changed();
            }
            return new SequenceRange(next, end);
        }
        SequenceRange range = select(info);
        documentId = info.id();
        next = range.from();
        end = Math.max(range.from(), range.to());
        return range;
    }

    private DocumentException changed() {
        return new DocumentException(
                DocumentException.Reason.CHANGED,
                name,
                "was trimmed or deleted before the client received sequence " + next);
    }

    @Override
    public void begin(long count) {
        if (begun && count == 0) {
            throw changed();
        }
        if (!begun) {
            begun = true;
            if (count == 0) {
                end = next;
            }
            writeBegin(room(), count);
        }
    }

    @Override
    public boolean next(long sequence, ByteBuffer value) {
        int bytes = value.remaining();
        ByteBuf out = room();
        writeBefore(out, sequence);
        Reply.putNumber(out, '$', bytes);
        while (value.hasRemaining()) {
            ByteBuf chunk = room();
            int fits = Math.min(value.remaining(), PIECE_BYTES - chunk.writerIndex());
            chunk.writeBytes(value.slice(value.position(), fits));
            value.position(value.position() + fits);
        }
        Reply.putLineEnd(room());
        next = sequence + 1;
        turnBytes += bytes + AROUND_VALUE_BYTES;
        return turnBytes < TURN_BYTES && channel.isActive();
    }

    /** Returns the current chunk, or a new one if the current chunk is almost full. */
    private ByteBuf room() {
        if (piece != null && piece.writerIndex() > PIECE_BYTES - AROUND_VALUE_BYTES) {
            send(piece, () -> {});
        }
        if (piece == null) {
            piece = channel.alloc().directBuffer(sent ? PIECE_BYTES : FIRST_PIECE_BYTES);
        }
        return piece;
    }

    /** Passes the chunk to the event loop, which then runs {@code after}. */
    private void send(ByteBuf full, Runnable after) {
        piece = null;
        sent = true;
        int bytes = full.readableBytes();
        place.session.memory.holdReply(full.capacity());
        channel.eventLoop().execute(() -> {
            onTheirWay += bytes;
            place.add(new ReplyQueue.Piece(full, () -> {
                onTheirWay -= bytes;
                wakeIfRoom();
            }));
            after.run();
        });
    }

    private void wakeIfRoom() {
        if (waiting && onTheirWay <= TURN_BYTES) {
            waiting = false;
            place.wake();
        }
    }

    /** Replies with the error, or closes the connection if part of the reply has been sent. */
    private void fail(RuntimeException problem) {
        if (piece != null) {
            piece.release();
            piece = null;
        }
        Reply.Error error = CommandException.reply(problem);
        if (sent) {
            LOG.warn("closing {}: its reply cannot be completed: {}", channel.remoteAddress(), error.text());
            channel.close();
        } else {
            place.complete(error);
        }
    }
}
