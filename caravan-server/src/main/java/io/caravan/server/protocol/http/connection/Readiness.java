package io.caravan.server.protocol.http.connection;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Problem;
import org.jspecify.annotations.Nullable;

/** Whether the server is ready to serve, and if not, why. Thread-safe. */
public final class Readiness {
    private final @Nullable Cluster cluster;
    private volatile @Nullable Served served;
    private volatile boolean draining;

    /** The readiness of a server that is part of this cluster; null when it is alone. */
    public Readiness(@Nullable Cluster cluster) {
        this.cluster = cluster;
    }

    /** The cluster that the server is part of; null when it is alone. */
    public @Nullable Cluster cluster() {
        return cluster;
    }

    /**
     * The cluster whose leader serves the documents instead of this server, or null when this one does, or will.
     */
    public @Nullable Cluster followed() {
        return served == null && !draining ? cluster : null;
    }

    /** Whether requests for documents are served here and now. */
    public boolean serves() {
        return served != null && !draining;
    }

    /** Serves documents from now on. */
    public void serve(Served opened) {
        served = opened;
    }

    /** The status of the archive, or null when there is none. */
    public @Nullable ArchiveStatus archive() {
        Served opened = served;
        Archiver archiver = opened == null ? null : opened.archiver();
        return archiver == null ? null : archiver.status();
    }

    public void drain() {
        draining = true;
    }

    /** Whether the server stops. */
    public boolean draining() {
        return draining;
    }

    /** The documents. Throws {@link Problem} when the store is still being opened, or the server stops. */
    public DocumentService documents() {
        return served().documents();
    }

    /** All that is served; as {@link #documents}. */
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

    /** Why the server is not ready, or null; {@code inFull} gives the store's own message, which may name files. */
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

    /** The refusal of what nobody can do now. */
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
