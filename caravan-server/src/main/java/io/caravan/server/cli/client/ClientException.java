package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import org.jspecify.annotations.Nullable;

/** Thrown if a command fails. The message states the cause and the remedy. */
public final class ClientException extends RuntimeException {
    /** The exit code for a failure, such as an unreachable server, a missing permission, or a full disk. */
    public static final int FAILED = 1;
    /**
     * The exit code if the document is not in the expected state (missing, longer, closed, or trimmed), or its space is
     * full.
     */
    public static final int OTHER_STATE = 3;

    private static final long serialVersionUID = 1L;

    private final int exitCode;
    private final boolean moved;
    private final long waitMillis;
    private final boolean byFollower;
    private final @Nullable HostPort leader;

    private ClientException(int exitCode, String message, @Nullable Throwable cause) {
        this(exitCode, message, cause, false, 0);
    }

    private ClientException(int exitCode, String message, @Nullable Throwable cause, boolean moved, long waitMillis) {
        super(message, cause);
        this.exitCode = exitCode;
        this.moved = moved;
        this.waitMillis = waitMillis;
        this.byFollower = false;
        this.leader = null;
    }

    private ClientException(String message, @Nullable HostPort leader) {
        super(message);
        this.exitCode = FAILED;
        this.moved = false;
        this.waitMillis = 0;
        this.byFollower = true;
        this.leader = leader;
    }

    public static ClientException failed(String message) {
        return new ClientException(FAILED, message, null);
    }

    public static ClientException failed(String message, Throwable cause) {
        return new ClientException(FAILED, message, cause);
    }

    public static ClientException otherState(String message) {
        return new ClientException(OTHER_STATE, message, null);
    }

    /** Creates the exception for a document that was moved to another server, which the message names. */
    static ClientException moved(String message) {
        return new ClientException(OTHER_STATE, message, null, true, 0);
    }

    /** Creates the exception for a node of a cluster that does not lead; {@code leader} is null if no node does. */
    static ClientException byFollower(String message, @Nullable HostPort leader) {
        return new ClientException(message, leader);
    }

    /** Creates the exception for writes that exceed the rate limit of the document's space. */
    static ClientException tooFast(String message, long waitMillis) {
        return new ClientException(OTHER_STATE, message, null, false, Math.max(1, waitMillis));
    }

    public static ClientException missing(String name) {
        return otherState("there is no document '" + name + "'");
    }

    /** Returns a copy with more details in the message. */
    public ClientException with(String more) {
        return new ClientException(exitCode, getMessage() + more, this, moved, waitMillis);
    }

    /** Whether the problem concerns only the requested document, so that requests for other documents may succeed. */
    public boolean isOtherState() {
        return exitCode == OTHER_STATE;
    }

    /** Returns this exception if it concerns only the requested document; throws it otherwise. */
    public ClientException ofDocument() {
        if (!isOtherState()) {
            throw this;
        }
        return this;
    }

    /** Whether the document was moved to another server. */
    public boolean isMoved() {
        return moved;
    }

    /** Whether a node of a cluster rejected the request because it does not lead the document's Raft group. */
    public boolean isByFollower() {
        return byFollower;
    }

    /** Returns the node that leads the document's Raft group, according to the node that rejected the request. */
    public @Nullable HostPort leader() {
        return leader;
    }

    /** Returns the number of milliseconds after which the request may succeed; 0 if waiting does not help. */
    public long waitMillis() {
        return waitMillis;
    }

    public int exitCode() {
        return exitCode;
    }
}
