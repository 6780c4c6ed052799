package io.caravan.server.protocol.http;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import org.jspecify.annotations.Nullable;

/** The state of the server: whether it is ready to serve requests, or the reason why it is not. Thread-safe. */
public final class Readiness {
    private final @Nullable Cluster cluster;
    private volatile @Nullable ServerContext served;
    private volatile boolean draining;

    /** Creates the state of a server; {@code cluster} is null if the server is not part of a cluster. */
    public Readiness(@Nullable Cluster cluster) {
        this.cluster = cluster;
    }

    public @Nullable Cluster cluster() {
        return cluster;
    }

    /**
     * Returns the cluster whose leader serves the documents instead of this server. Returns null if this server serves
     * them, will serve them, or is stopping.
     */
    private @Nullable Cluster followed() {
        return served == null && !draining ? cluster : null;
    }

    /** Whether this server serves requests for documents now. */
    public boolean serves() {
        return served != null && !draining;
    }

    /** Makes the server ready to serve documents, with these services. */
    public void serve(ServerContext opened) {
        served = opened;
    }

    /** Returns the status of the archive, or null if the server has no archive. */
    public @Nullable ArchiveStatus archive() {
        ServerContext opened = served;
        Archiver archiver = opened == null ? null : opened.archiver();
        return archiver == null ? null : archiver.status();
    }

    public void drain() {
        draining = true;
    }

    public boolean draining() {
        return draining;
    }

    /** Returns the document service. Throws {@link Problem} if the store is not open yet, or the server is stopping. */
    public DocumentService documents() {
        return served().documents();
    }

    /** Returns the services that the endpoints use. Throws {@link Problem} like {@link #documents}. */
    public ServerContext served() {
        ServerContext opened = served;
        if (opened == null || draining) {
            throw notServing();
        }
        return opened;
    }

    private Problem notServing() {
        return draining
                ? unavailable("draining", "the server is stopping")
                : unavailable("recovering", "the store is being opened");
    }

    /**
     * Returns the reason why the server is not ready, or null if it is ready. With {@code inFull}, the reason includes
     * the message of the store, which may contain file names.
     */
    public @Nullable Problem problem(boolean inFull) {
        ServerContext opened = served;
        Cluster following = followed();
        if (following != null) {
            return following.leader().isPresent() ? null : noLeader();
        }
        if (opened == null || draining) {
            return notServing();
        }
        CaravanException problem = opened.documents().problem();
        if (problem == null) {
            return null;
        }
        boolean full = problem instanceof OutOfSpaceException;
        String brief = full ? "the store has no space" : "the store has failed; see the server's log";
        return unavailable(
                full ? "out_of_space" : "store_failed", inFull ? String.valueOf(problem.getMessage()) : brief);
    }

    /** Returns the error for a request that needs a leader while there is none. */
    public static Problem noLeader() {
        return unavailable(
                "no_leader",
                "the cluster has no leader: an election is in progress, or the majority of the nodes cannot be"
                        + " reached. Nothing was changed; try again");
    }

    public static Problem unavailable(String code, String detail) {
        return new Problem(503, code, detail);
    }
}
