package io.caravan.cluster;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells those who ask that this host leads: it has the group commit an empty entry, proposed after they have asked. One is
 * under way at a time, and the next one is for all who ask meanwhile. Thread-safe.
 */
final class Confirmations {
    private final String self;
    private final Supplier<? extends CompletableFuture<?>> commitEmptyEntry;
    private final long timeoutMillis;

    /** What those wait for who have asked since the entry under way was proposed; null when nobody has. */
    private @Nullable CompletableFuture<Void> next;

    private boolean underWay;

    /**
     * For one host.
     *
     * @param commitEmptyEntry proposes an entry; done when the group has committed it in the term in which it was proposed,
     *     and this host has applied it
     * @param timeoutMillis how long whoever asks may have to wait
     */
    Confirmations(String self, Supplier<? extends CompletableFuture<?>> commitEmptyEntry, long timeoutMillis) {
        this.self = self;
        this.commitEmptyEntry = commitEmptyEntry;
        this.timeoutMillis = timeoutMillis;
    }

    /** Done when an entry that was proposed later than this call is committed; fails with an {@link IOException}. */
    CompletableFuture<Void> confirm() {
        CompletableFuture<Void> asked;
        synchronized (this) {
            if (next == null || next.isDone()) {
                next = new CompletableFuture<>();
                next.orTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
            }
            asked = next;
        }
        proposeNext();
        return asked.handle(this::outcome).thenCompose(outcome -> outcome);
    }

    private CompletableFuture<Void> outcome(@Nullable Void done, @Nullable Throwable problem) {
        return problem == null
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.failedFuture(new IOException(
                        "host " + self + " cannot confirm that it leads its group: " + why(problem)
                                + "; ask the host that leads, which may be another one now",
                        problem));
    }

    private String why(Throwable problem) {
        return problem instanceof TimeoutException
                ? "no majority has answered within " + timeoutMillis + " ms"
                : String.valueOf(problem.getMessage());
    }

    private void proposeNext() {
        CompletableFuture<Void> asked;
        synchronized (this) {
            if (underWay || next == null) {
                return;
            }
            underWay = true;
            asked = next;
            next = null;
        }
        commitEmptyEntry.get().whenComplete((committed, problem) -> {
            synchronized (this) {
                underWay = false;
            }
            if (problem == null) {
                asked.complete(null);
            } else {
                asked.completeExceptionally(problem);
            }
            proposeNext();
        });
    }
}
