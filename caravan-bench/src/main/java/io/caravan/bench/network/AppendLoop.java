package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A connection that appends to streams in random order and keeps a number of requests outstanding until the window
 * ends. Answers within the window count. Runs on the event loop; read its results only after it has ended.
 */
final class AppendLoop implements ResponseListener {
    private static final int DIGITS = 3;

    private final HttpLink link;
    private final byte[][] requests;
    private final SplittableRandom random;
    private final Window window;
    private final CountDownLatch ended;
    private final Deque<Long> sentNanos = new ArrayDeque<>();
    private final Histogram nanos = new Histogram(DIGITS);
    private @Nullable String firstError;
    private long errors;
    private boolean refused;

    /**
     * Creates a loop that has not started.
     *
     * @param requests the requests to choose from
     * @param ended counted down when the window has ended and no request is outstanding
     */
    AppendLoop(HttpLink link, byte[][] requests, long seed, Window window, CountDownLatch ended) {
        this.link = link;
        this.requests = requests;
        this.random = new SplittableRandom(seed);
        this.window = window;
        this.ended = ended;
    }

    /** Sends the first requests; call it on the event loop. */
    void begin(int depth) {
        for (int i = 0; i < depth; i++) {
            sendOne();
        }
    }

    private void sendOne() {
        sentNanos.add(System.nanoTime());
        link.send(Unpooled.wrappedBuffer(requests[random.nextInt(requests.length)]), this);
    }

    @Override
    public void head(HttpResponse head) {
        refused = !Answer.isSuccess(head);
        if (refused) {
            error("the server answered " + head.status());
        }
    }

    @Override
    public void body(ByteBuf bytes) {
        // The status is sufficient.
    }

    @Override
    public void end() {
        long now = System.nanoTime();
        long sent = sentNanos.remove();
        if (window.contains(now) && !refused) {
            nanos.recordValue(now - sent);
        }
        if (!window.isOver(now)) {
            sendOne();
        } else if (sentNanos.isEmpty()) {
            ended.countDown();
        }
    }

    @Override
    public void lost(String why) {
        error(why);
        sentNanos.remove();
        if (sentNanos.isEmpty()) {
            ended.countDown();
        }
    }

    private void error(String what) {
        errors++;
        if (firstError == null) {
            firstError = what;
        }
    }

    /** Latencies of all appends answered within the window. */
    Histogram nanos() {
        return nanos;
    }

    long errors() {
        return errors;
    }

    /** The first problem; null when there was none. */
    @Nullable
    String firstError() {
        return firstError;
    }
}
