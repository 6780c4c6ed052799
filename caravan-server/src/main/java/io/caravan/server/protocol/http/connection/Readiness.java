package io.caravan.server.protocol.http.connection;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Problem;
import org.jspecify.annotations.Nullable;

/** The state of the server: whether it is ready to serve, and if not, the reason. Thread-safe. */
public final class Readiness {
    private final @Nullable Cluster cluster;
    private volatile @Nullable Served served;
    private volatile boolean draining;

    /** Creates the readiness of a server in this cluster; null when it is not part of one. */
    public Readiness(@Nullable Cluster cluster) {
        this.cluster = cluster;
    }

    /** Returns the cluster that the server is part of; null when there is none. */
    public @Nullable Cluster cluster() {
        return cluster;
    }

    /**
     * Returns the cluster whose leader serves the documents instead of this server, or null when this server serves
     * them, or will.
     */
    public @Nullable Cluster followed() {
        return served == null && !draining ? cluster : null;
    }

    /** Whether this server serves requests for documents now. */
    public boolean serves() {
        return served != null && !draining;
    }

    /** Serves documents from now on. */
    public void serve(Served opened) {
        served = opened;
    }

    /** Returns the status of the archive, or null without one. */
    public @Nullable ArchiveStatus archive() {
        Served opened = served;
        Archiver archiver = opened == null ? null : opened.archiver();
        return archiver == null ? null : archiver.status();
    }

    public void drain() {
        draining = true;
    }

    /** Whether the server is stopping. */
    public boolean draining() {
        return draining;
    }

    /** Returns the documents. Throws {@link Problem} when the store is still being opened, or the server stops. */
    public DocumentService documents() {
        return served().documents();
    }

    /** Returns everything that is served. Throws {@link Problem} as {@link #documents} does. */
    public Served served() {
        Served opened = served;
        if (opened == null || draining) {
            throw notServing();
        }
        return opened;
    }

    private Problem notServing() {
        return draining
                ? unavailable("draining", "the server stops")
                : unavailable("recovering", "the store is being opened");
    }

    /**
     * Returns the reason why the server is not ready, or null. With {@code inFull}, it contains the store's own
     * message, which may name files.
     */
    public @Nullable Problem problem(boolean inFull) {
        Served opened = served;
        Cluster following = followed();
        if (following != null) {
            return following.leader().isPresent() ? null : noLeader();
        }
        if (opened == null || draining) {
            return notServing();
        }
        CaravanException trouble = opened.documents().trouble();
        if (trouble == null) {
            return null;
        }
        boolean full = trouble instanceof OutOfSpaceException;
        String brief = full ? "the store has no space" : "the store has failed; see the server's log";
        return unavailable(
                full ? "out_of_space" : "store_failed", inFull ? String.valueOf(trouble.getMessage()) : brief);
    }

    /** Returns the refusal of a request for which no leader exists now. */
    public static Problem noLeader() {
        return unavailable(
                "no_leader",
                "no host of the cluster leads: an election is under way, or the majority of the hosts cannot be"
                        + " reached. Nothing was changed; try again");
    }

    public static Problem unavailable(String code, String detail) {
        return new Problem(503, code, detail);
    }
}
