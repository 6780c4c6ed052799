package io.caravan.server.http;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.server.document.DocumentService;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server can do what it is for, and if not, why. Threads share it.
 *
 * <p>That a store has failed, or is out of space, is known from the writes that it refused; that there is space again,
 * from the next one that it took.
 */
public final class Readiness {
    private volatile @Nullable DocumentService documents;
    private volatile boolean draining;
    private volatile @Nullable String outOfSpace;
    private volatile @Nullable String failed;

    /** The store is open. */
    void serve(DocumentService opened) {
        documents = opened;
    }

    /** The server stops. */
    void drain() {
        draining = true;
    }

    boolean draining() {
        return draining;
    }

    /**
     * The documents.
     *
     * @throws ProblemException when the server has none yet, or stops
     */
    DocumentService documents() {
        DocumentService served = documents;
        if (served == null || draining) {
            throw new ProblemException(unavailable(
                    draining ? "draining" : "recovering", draining ? "the server stops" : "the store is being opened"));
        }
        return served;
    }

    /** A write was taken. */
    void wrote() {
        if (outOfSpace != null) {
            outOfSpace = null;
        }
    }

    /** A read or a write was refused. */
    void refused(CaravanException problem) {
        if (problem instanceof OutOfSpaceException) {
            outOfSpace = problem.getMessage();
        } else if (problem instanceof StoreFailedException) {
            failed = problem.getMessage();
        }
    }

    /** Why the server is not ready, or null when it is. */
    @Nullable
    Problem problem() {
        if (draining) {
            return unavailable("draining", "the server stops");
        }
        if (documents == null) {
            return unavailable("recovering", "the store is being opened");
        }
        String reason = failed;
        if (reason != null) {
            return unavailable("store_failed", reason);
        }
        reason = outOfSpace;
        return reason == null ? null : unavailable("out_of_space", reason);
    }

    static Problem unavailable(String code, String detail) {
        return new Problem(HttpResponseStatus.SERVICE_UNAVAILABLE, code, detail);
    }
}
