package io.caravan.server.document;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A barrier that lets reads pass, or refuses them, when a test says so. */
public final class HeldBarrier {
    private final List<CompletableFuture<Void>> waiting = new ArrayList<>();

    public ReadBarrier barrier() {
        return ReadBarrier.of(this::ask);
    }

    /** A barrier that refuses all. */
    public static ReadBarrier refusing(String why) {
        return ReadBarrier.of(() -> CompletableFuture.failedFuture(new IOException(why)));
    }

    private synchronized CompletableFuture<Void> ask() {
        CompletableFuture<Void> asked = new CompletableFuture<>();
        waiting.add(asked);
        return asked;
    }

    /** How often it was asked since the last answer. */
    public synchronized int asked() {
        return waiting.size();
    }

    public void pass() {
        taken().forEach(asked -> asked.complete(null));
    }

    public void refuse(String why) {
        taken().forEach(asked -> asked.completeExceptionally(new IOException(why)));
    }

    private synchronized List<CompletableFuture<Void>> taken() {
        List<CompletableFuture<Void>> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }
}
