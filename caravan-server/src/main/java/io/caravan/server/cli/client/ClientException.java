package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import org.jspecify.annotations.Nullable;

/** Thrown if a command fails. The message states the cause and the remedy. */
public final class ClientException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final long waitMillis;
    private final @Nullable HostPort leader;

    /** The kinds of failures, with the exit code of the command. */
    public enum Kind {
        /** For example, a server is unreachable, a permission is missing, or a disk is full. */
        FAILED(1),
        /** A node of a cluster rejected the request because it does not lead the document's Raft group. */
        NOT_LEADER(1),
        /** The document is not in the expected state (missing, longer, closed, or trimmed), or its space is full. */
        OTHER_STATE(3),
        /** The document was moved to another server, which the message names. */
        MOVED(3),
        /** The writes exceed the rate limit of the document's space. */
        TOO_FAST(3);

        private final int exitCode;

        Kind(int exitCode) {
            this.exitCode = exitCode;
        }

        public int exitCode() {
            return exitCode;
        }
    }

    private ClientException(
            Kind kind, String message, @Nullable Throwable cause, long waitMillis, @Nullable HostPort leader) {
        super(message, cause);
        this.kind = kind;
        this.waitMillis = waitMillis;
        this.leader = leader;
    }

    static ClientException of(Kind kind, String message) {
        return new ClientException(kind, message, null, 0, null);
    }

    public static ClientException failed(String message) {
        return of(Kind.FAILED, message);
    }

    public static ClientException failed(String message, Throwable cause) {
        return new ClientException(Kind.FAILED, message, cause, 0, null);
    }

    public static ClientException otherState(String message) {
        return of(Kind.OTHER_STATE, message);
    }

    /** Creates the exception for a node of a cluster that does not lead; {@code leader} is null if no node does. */
    static ClientException notLeader(String message, @Nullable HostPort leader) {
        return new ClientException(Kind.NOT_LEADER, message, null, 0, leader);
    }

    static ClientException tooFast(String message, long waitMillis) {
        return new ClientException(Kind.TOO_FAST, message, null, Math.max(1, waitMillis), null);
    }

    public static ClientException missing(String name) {
        return otherState("there is no document '" + name + "'");
    }

    /** Returns a copy with more details in the message. */
    public ClientException with(String more) {
        return new ClientException(kind, getMessage() + more, this, waitMillis, leader);
    }

    public Kind kind() {
        return kind;
    }

    /** Whether the problem concerns only the requested document, so that requests for other documents may succeed. */
    public boolean isOtherState() {
        return kind.exitCode == Kind.OTHER_STATE.exitCode;
    }

    /** Returns this exception if it concerns only the requested document; throws it otherwise. */
    public ClientException ofDocument() {
        if (!isOtherState()) {
            throw this;
        }
        return this;
    }

    /** Returns the node that leads the document's Raft group, according to the node that rejected the request. */
    public @Nullable HostPort leader() {
        return leader;
    }

    /** Returns the number of milliseconds after which the request may succeed; 0 if waiting does not help. */
    public long waitMillis() {
        return waitMillis;
    }
}
