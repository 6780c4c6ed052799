package io.caravan.server.document;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A read barrier that makes reads wait until the test lets them pass or rejects them. */
public final class DelayedBarrier {
    private final List<CompletableFuture<Void>> waiting = new ArrayList<>();

    public ReadBarrier barrier() {
        return ReadBarrier.of(this::ask);
    }

    /** Returns a barrier that rejects all reads. */
    public static ReadBarrier rejecting(String why) {
        return ReadBarrier.of(() -> CompletableFuture.failedFuture(new IOException(why)));
    }

    private synchronized CompletableFuture<Void> ask() {
        CompletableFuture<Void> asked = new CompletableFuture<>();
        waiting.add(asked);
        return asked;
    }

    /** Returns the number of reads that are waiting. */
    public synchronized int asked() {
        return waiting.size();
    }

    public void pass() {
        taken().forEach(asked -> asked.complete(null));
    }

    public void reject(String why) {
        taken().forEach(asked -> asked.completeExceptionally(new IOException(why)));
    }

    private synchronized List<CompletableFuture<Void>> taken() {
        List<CompletableFuture<Void>> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }
}
