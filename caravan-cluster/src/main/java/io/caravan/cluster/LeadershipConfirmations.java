package io.caravan.cluster;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Confirms leadership for linearizable reads by committing an empty entry that is proposed after the request. At most
 * one such entry is in flight; requests that arrive in the meantime share the next entry. Thread-safe.
 */
final class LeadershipConfirmations {
    private final String self;
    private final Supplier<? extends CompletableFuture<?>> commitEmptyEntry;
    private final long timeoutMillis;

    /** The future of the requests that arrived after the entry in flight was proposed; null if there are none. */
    private @Nullable CompletableFuture<Void> next;

    private boolean inProgress;

    /**
     * Creates the object that confirms the leadership of one node.
     *
     * @param commitEmptyEntry proposes an empty entry; the future completes when the group has committed it in the term
     *     in which it was proposed, and this node has applied it
     * @param timeoutMillis the maximum time that a caller waits
     */
    LeadershipConfirmations(
            String self, Supplier<? extends CompletableFuture<?>> commitEmptyEntry, long timeoutMillis) {
        this.self = self;
        this.commitEmptyEntry = commitEmptyEntry;
        this.timeoutMillis = timeoutMillis;
    }

    /** Returns a future of the commit of an entry proposed after this call; fails with {@link IOException}. */
    CompletableFuture<Void> confirm() {
        CompletableFuture<Void> pending;
        synchronized (this) {
            if (next == null || next.isDone()) {
                next = new CompletableFuture<>();
                next.orTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
            }
            pending = next;
        }
        proposeNext();
        return pending.exceptionallyCompose(problem -> CompletableFuture.failedFuture(new IOException(
                "node " + self + " cannot confirm that it leads its group: " + why(problem)
                        + "; send the request to the leader, which may now be another node",
                problem)));
    }

    private String why(Throwable problem) {
        return problem instanceof TimeoutException
                ? "no majority has responded within " + timeoutMillis + " ms"
                : String.valueOf(problem.getMessage());
    }

    private void proposeNext() {
        CompletableFuture<Void> pending;
        synchronized (this) {
            if (inProgress || next == null) {
                return;
            }
            inProgress = true;
            pending = next;
            next = null;
        }
        commitEmptyEntry.get().whenComplete((committed, problem) -> {
            synchronized (this) {
                inProgress = false;
            }
            if (problem == null) {
                pending.complete(null);
            } else {
                pending.completeExceptionally(problem);
            }
            proposeNext();
        });
    }
}
