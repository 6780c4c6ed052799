package io.caravan.server.protocol.http.connection;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Problem;
import org.jspecify.annotations.Nullable;

/** Whether the server is ready to serve, and if not, why. Thread-safe. */
public final class Readiness {
    private volatile @Nullable DocumentService documents;
    private volatile @Nullable Archiver archiver;
    private volatile boolean draining;

    /** Serves documents from now on. */
    public void serve(DocumentService opened, @Nullable Archiver archives) {
        archiver = archives;
        documents = opened;
    }

    /** The status of the archive, or null when there is none. */
    public @Nullable ArchiveStatus archive() {
        Archiver archives = archiver;
        return archives == null ? null : archives.status();
    }

    public void drain() {
        draining = true;
    }

    boolean draining() {
        return draining;
    }

    /** The documents. Throws {@link Problem} when the store is still being opened, or the server stops. */
    public DocumentService documents() {
        DocumentService served = documents;
        if (served == null || draining) {
            throw notServing();
        }
        return served;
    }

    private Problem notServing() {
        return draining
                ? unavailable("draining", "the server stops")
                : unavailable("recovering", "the store is being opened");
    }

    /** Why the server is not ready, or null; {@code inFull} gives the store's own message, which may name files. */
    public @Nullable Problem problem(boolean inFull) {
        DocumentService served = documents;
        if (served == null || draining) {
            return notServing();
        }
        CaravanException trouble = served.trouble();
        if (trouble == null) {
            return null;
        }
        boolean full = trouble instanceof OutOfSpaceException;
        String brief = full ? "the store has no space" : "the store has failed; see the server's log";
        return unavailable(
                full ? "out_of_space" : "store_failed", inFull ? String.valueOf(trouble.getMessage()) : brief);
    }

    public static Problem unavailable(String code, String detail) {
        return new Problem(503, code, detail);
    }
}
