package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponse;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Appends to streams in turn, each at its due time, whether or not earlier ones have been answered. */
final class PacedAppends implements ResponseListener {
    private final List<HttpLink> links;
    private final List<String> streams;
    private final AtomicLong errors = new AtomicLong();
    private long count;

    PacedAppends(List<HttpLink> links, List<String> streams) {
        this.links = links;
        this.streams = streams;
    }

    /** Appends until the window ends; call it on the measuring thread. */
    void run(int perSecond, Window window) {
        long interval = TimeUnit.SECONDS.toNanos(1) / perSecond;
        for (long due = System.nanoTime(); !window.isOver(due); due += interval) {
            awaitNanos(due);
            append(due);
        }
    }

    /** Appends once to each stream immediately. */
    void once() {
        for (int i = 0; i < streams.size(); i++) {
            append(System.nanoTime());
        }
    }

    private void append(long dueNanos) {
        int turn = (int) (count % streams.size());
        links.get(turn % links.size()).send(Requests.append(streams.get(turn), StampedValue.of(dueNanos)), this);
        count++;
    }

    private static void awaitNanos(long due) {
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public void head(HttpResponse head) {
        if (!Answer.isSuccess(head)) {
            errors.incrementAndGet();
        }
    }

    @Override
    public void body(ByteBuf bytes) {
        // The status is sufficient.
    }

    @Override
    public void end() {
        // The clients that follow the stream will notice.
    }

    @Override
    public void lost(String why) {
        errors.incrementAndGet();
    }

    /** Number of appends sent. */
    long count() {
        return count;
    }

    /** Number of appends that were refused or never answered. */
    long errors() {
        return errors.get();
    }
}
