package io.caravan.server.protocol.http;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.ValueTooLargeException;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.backup.BackupException;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.MovedException;
import io.caravan.server.document.ReadBarrier.UnconfirmedReadException;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Thrown if a request fails. Converted to a response of type {@code application/problem+json} (RFC 9457). */
public final class Problem extends RuntimeException {
    public static final String CONTENT_TYPE = "application/problem+json";

    private static final Logger LOG = LoggerFactory.getLogger(Problem.class);
    private static final long serialVersionUID = 1L;

    private record Translation(Class<? extends RuntimeException> type, int status, String code, boolean passing) {}

    private static final List<Translation> TRANSLATIONS = List.of(
            new Translation(OutOfSpaceException.class, 507, "out_of_space", false),
            new Translation(ValueTooLargeException.class, 413, "value_too_large", false),
            new Translation(CorruptStoreException.class, 500, "corrupt", false),
            new Translation(StoreFailedException.class, 503, "store_failed", false),
            new Translation(StoreIoException.class, 503, "store_failed", false),
            new Translation(StoreClosedException.class, 503, "store_closed", false),
            new Translation(ArchiveException.class, 503, "archive_unavailable", true),
            new Translation(ObjectStoreException.class, 503, "archive_unavailable", true),
            new Translation(UnconfirmedReadException.class, 503, "read_unconfirmed", true),
            new Translation(IllegalArgumentException.class, 400, "invalid_request", false));

    private final int status;
    private final String code;
    private final transient Map<CharSequence, String> headers = new LinkedHashMap<>();

    /**
     * Creates a problem without additional headers.
     *
     * @param code identifies the kind of problem for programs; docs/reference/errors.md lists the codes
     * @param detail a message for people that states the cause and the remedy
     */
    public Problem(int status, String code, String detail) {
        super(detail);
        this.status = status;
        this.code = code;
    }

    public static Problem badRequest(String code, String detail) {
        return new Problem(400, code, detail);
    }

    /** Returns the error for a request that needs a leader while there is none. */
    static Problem noLeader() {
        return unavailable(
                "no_leader",
                "the cluster has no leader: an election is in progress, or the majority of the nodes cannot be"
                        + " reached. Nothing was changed; try again");
    }

    static Problem unavailable(String code, String detail) {
        return new Problem(503, code, detail);
    }

    static Problem unauthorized(String detail) {
        return new Problem(401, "unauthorized", detail).with("WWW-Authenticate", "Bearer realm=\"caravan\"");
    }

    static Problem forbidden(Principal principal, Permission permission, String where) {
        return new Problem(403, "forbidden", principal.name() + " lacks permission " + permission + where);
    }

    /** Throws a bad request with this code and detail unless {@code holds}. */
    public static void require(boolean holds, String code, String detail) {
        if (!holds) {
            throw badRequest(code, detail);
        }
    }

    /** Translates an exception into a problem: an internal error, which is logged, if it has no translation. */
    public static Problem of(Throwable thrown) {
        if (thrown instanceof Problem rejected) {
            return rejected;
        }
        if (thrown instanceof DocumentException rejected) {
            return ofDocument(rejected);
        }
        if (thrown instanceof BackupException rejected) {
            int status = switch (rejected.reason()) {
                case NO_BACKUPS, NO_BACKUP -> 404;
                case BACKUP_IN_PROGRESS, BACKUP_EXISTS -> 409;
            };
            return of(status, rejected.reason(), rejected);
        }
        for (Translation translation : TRANSLATIONS) {
            if (translation.type().isInstance(thrown)) {
                Problem problem = new Problem(translation.status(), translation.code(), message(thrown));
                return translation.passing() ? problem.retrySoon() : problem;
            }
        }
        LOG.error("a request failed because of a fault in the server", thrown);
        String detail = thrown instanceof CaravanException ? message(thrown) : "see the server's log";
        return new Problem(500, "internal_error", detail);
    }

    /**
     * Returns a redirect to the current server of a document, or, if the HTTP address of that server is unknown, an
     * error that names the server.
     *
     * @param target the path and query of the request
     */
    public static Problem redirect(MovedException moved, String target) {
        String base = moved.to().http();
        // The redirect must not be cached, because the document may migrate back.
        return base == null
                ? of(moved)
                : new Problem(307, "moved", message(moved))
                        .with("Location", base + target)
                        .with("Cache-Control", "no-store");
    }

    private static String message(Throwable thrown) {
        return String.valueOf(thrown.getMessage());
    }

    /** Returns a problem whose code is the reason of an exception. */
    static Problem of(int status, Enum<?> reason, Throwable thrown) {
        return new Problem(status, reason.name().toLowerCase(Locale.ROOT), message(thrown));
    }

    private static Problem ofDocument(DocumentException rejected) {
        int status = switch (rejected.reason()) {
            case NOT_FOUND, SOURCE_NOT_FOUND -> 404;
            case GONE -> 410;
            case NOT_JSON, PRODUCER_EPOCH_START, FORK_POINT -> 400;
            case PRODUCER_FENCED -> 403;
            case EXISTS,
                    CLOSED,
                    CONTENT_TYPE_MISMATCH,
                    STREAM_SEQ_REGRESSION,
                    SEQUENCE_CONFLICT,
                    PRODUCER_GAP,
                    SOURCE_GONE,
                    HAS_FORKS,
                    CHANGED,
                    CROSS_SLOT -> 409;
            case RESTORING, MOVING -> 503;
            case MOVED -> 421;
            case TOO_LARGE -> 413;
            case OVER_QUOTA -> 507;
            case RATE_LIMITED -> 429;
        };
        Problem problem = of(status, rejected.reason(), rejected);
        return switch (rejected.reason()) {
            case CLOSED ->
                problem.with(StreamHeaders.CLOSED, "true")
                        .with(StreamHeaders.NEXT_OFFSET, Offset.of(rejected.actual()));
            case SEQUENCE_CONFLICT -> problem.with(StreamHeaders.NEXT_OFFSET, Offset.of(rejected.actual()));
            case PRODUCER_FENCED -> problem.with(StreamHeaders.PRODUCER_EPOCH, Long.toString(rejected.actual()));
            case PRODUCER_GAP ->
                problem.with(StreamHeaders.PRODUCER_EXPECTED_SEQ, Long.toString(rejected.expected()))
                        .with(StreamHeaders.PRODUCER_RECEIVED_SEQ, Long.toString(rejected.actual()));
            case RESTORING, MOVING -> problem.retrySoon();
            // Rounded up to seconds, because an earlier retry would be rejected again.
            case RATE_LIMITED -> problem.with("Retry-After", Long.toString((rejected.expected() + 999) / 1_000));
            default -> problem;
        };
    }

    /** Returns a copy whose detail begins with this text, which names the affected part of the request. */
    public Problem about(String part) {
        Problem located = new Problem(status, code, part + detail());
        located.headers.putAll(headers);
        return located;
    }

    public Problem with(CharSequence header, String value) {
        headers.put(header, value);
        return this;
    }

    /** Asks the client to retry after 1 s, for example while a document is being fetched from the archive. */
    Problem retrySoon() {
        return with("Retry-After", "1");
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    public String detail() {
        return message(this);
    }

    /** Returns the fields of the response body. */
    public Map<String, Object> fields() {
        String title = HttpResponseStatus.valueOf(status).reasonPhrase();
        return Response.fields("title", title, "status", status, "code", code, "detail", detail());
    }

    public Response response() {
        Response response = Response.json(status, fields()).header("Content-Type", CONTENT_TYPE);
        headers.forEach(response::header);
        return response;
    }

    /** Omits the stack trace, because it would not be used. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
