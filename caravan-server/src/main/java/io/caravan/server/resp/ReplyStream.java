package io.caravan.server.resp;

import io.caravan.server.document.DocumentReader;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the values of a document as one array, from a reading thread, without ever holding much of it: pieces go to the
 * event loop as they fill, and the thread waits while {@value #WINDOW_BYTES} bytes have not reached the socket. A client
 * that takes nothing for {@value #STALL_SECONDS} seconds is let go, because it holds a reading thread.
 */
final class ReplyStream implements DocumentReader {
    private static final Logger LOG = LoggerFactory.getLogger(ReplyStream.class);
    private static final int PIECE_BYTES = 64 * 1024;
    private static final int WINDOW_BYTES = 1024 * 1024;
    private static final int STALL_SECONDS = 30;

    private final Channel channel;
    private final PendingReply place;
    private final Semaphore window = new Semaphore(WINDOW_BYTES);
    private @Nullable ByteBuf piece;
    private boolean sent;

    ReplyStream(Channel channel, PendingReply place) {
        this.channel = channel;
        this.place = place;
    }

    @Override
    public void begin(long count) {
        RespBytes.putNumber(piece(), '*', count);
    }

    @Override
    public boolean next(long sequence, ByteBuffer value) {
        ByteBuf out = piece();
        RespBytes.putNumber(out, '$', value.remaining());
        out.writeBytes(value);
        RespBytes.putLineEnd(out);
        return (out.readableBytes() < PIECE_BYTES || send()) && channel.isActive();
    }

    private ByteBuf piece() {
        if (piece == null) {
            piece = channel.alloc().directBuffer(PIECE_BYTES / 16);
        }
        return piece;
    }

    /** All values have been passed on. */
    void finish() {
        if (piece == null || send()) {
            channel.eventLoop().execute(place::end);
        }
    }

    /** The read failed: the client gets the error, or, when the array has begun to go out, loses the connection. */
    void fail(Reply.Error error) {
        if (piece != null) {
            piece.release();
            piece = null;
        }
        if (sent) {
            LOG.warn("closing {}: its answer cannot be finished: {}", channel.remoteAddress(), error.text());
            channel.close();
        } else {
            place.complete(error);
        }
    }

    /** Returns false when the client has stalled, and the connection is being closed. */
    private boolean send() {
        ByteBuf full = piece();
        piece = null;
        int bytes = Math.min(full.readableBytes(), WINDOW_BYTES);
        if (!acquire(bytes)) {
            LOG.warn("closing {}: it takes nothing", channel.remoteAddress());
            full.release();
            channel.close();
            return false;
        }
        sent = true;
        channel.eventLoop().execute(() -> place.add(new PendingReply.Piece(full, () -> window.release(bytes))));
        return true;
    }

    private boolean acquire(int bytes) {
        try {
            return window.tryAcquire(bytes, STALL_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
