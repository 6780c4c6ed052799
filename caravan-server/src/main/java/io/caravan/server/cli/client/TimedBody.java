package io.caravan.server.cli.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of an HTTP response as a stream. Requests each part only after the previous part has been read. Unlike the
 * client library's own stream, it limits the wait for each part. Must be read by one thread.
 */
final class TimedBody extends InputStream implements BodySubscriber<InputStream> {
    private static final int UNSIGNED = 0xFF;

    /** A part of the body, or its end, which may be due to an error. */
    private record Part(
            List<ByteBuffer> bytes, boolean last, @Nullable Throwable error) {}

    private final Duration timeout;
    private final BlockingQueue<Part> arrived = new LinkedBlockingQueue<>();
    private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
    private Iterator<ByteBuffer> buffers = Collections.emptyIterator();
    private ByteBuffer current = ByteBuffer.allocate(0);
    private @Nullable Part end;

    TimedBody(Duration timeout) {
        this.timeout = timeout;
    }

    @Override
    public CompletionStage<InputStream> getBody() {
        return CompletableFuture.completedStage(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription.complete(given);
        given.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> bytes) {
        arrived.add(new Part(bytes, false, null));
    }

    @Override
    public void onError(Throwable error) {
        arrived.add(new Part(List.of(), true, error));
    }

    @Override
    public void onComplete() {
        arrived.add(new Part(List.of(), true, null));
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & UNSIGNED;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (!current.hasRemaining()) {
            if (buffers.hasNext()) {
                current = buffers.next();
            } else if (end == null) {
                await();
            } else if (end.error() != null) {
                throw new IOException("the response was cut off: " + end.error().getMessage(), end.error());
            } else {
                return -1;
            }
        }
        int count = Math.min(length, current.remaining());
        current.get(to, offset, count);
        return count;
    }

    private void await() throws IOException {
        Part part;
        try {
            part = arrived.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stop);
        }
        if (part == null) {
            throw new IOException("the response stopped: no data for " + timeout.toSeconds() + " s");
        }
        if (part.last()) {
            end = part;
        } else {
            buffers = part.bytes().iterator();
            subscription.join().request(1);
        }
    }

    /** Releases the connection, even if part of the response is unread. */
    @Override
    public void close() {
        subscription.thenAccept(Flow.Subscription::cancel);
    }
}
