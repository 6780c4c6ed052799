package io.caravan.server.protocol.http.codec;

import static io.netty.handler.codec.http.HttpResponseStatus.BAD_REQUEST;
import static io.netty.handler.codec.http.HttpResponseStatus.CONFLICT;
import static io.netty.handler.codec.http.HttpResponseStatus.FORBIDDEN;
import static io.netty.handler.codec.http.HttpResponseStatus.GONE;
import static io.netty.handler.codec.http.HttpResponseStatus.INSUFFICIENT_STORAGE;
import static io.netty.handler.codec.http.HttpResponseStatus.INTERNAL_SERVER_ERROR;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE;
import static io.netty.handler.codec.http.HttpResponseStatus.SERVICE_UNAVAILABLE;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.ValueTooLargeException;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DocumentException;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Translates exceptions to problems. One that has no row is a fault of the server. */
public final class Problems {
    private static final Logger LOG = LoggerFactory.getLogger(Problems.class);

    private static final String ARCHIVE_UNAVAILABLE = "archive_unavailable";
    /** When to retry while a document is being fetched from the archive, or the archive does not answer. */
    private static final String RETRY_SECONDS = "1";

    private record Row(Class<? extends RuntimeException> type, HttpResponseStatus status, String code) {}

    private static final List<Row> TABLE = List.of(
            new Row(OutOfSpaceException.class, INSUFFICIENT_STORAGE, "out_of_space"),
            new Row(ValueTooLargeException.class, REQUEST_ENTITY_TOO_LARGE, "value_too_large"),
            new Row(CorruptStoreException.class, INTERNAL_SERVER_ERROR, "corrupt"),
            new Row(StoreFailedException.class, SERVICE_UNAVAILABLE, "store_failed"),
            new Row(StoreIoException.class, SERVICE_UNAVAILABLE, "store_failed"),
            new Row(StoreClosedException.class, SERVICE_UNAVAILABLE, "store_closed"),
            new Row(ArchiveException.class, SERVICE_UNAVAILABLE, ARCHIVE_UNAVAILABLE),
            new Row(ObjectStoreException.class, SERVICE_UNAVAILABLE, ARCHIVE_UNAVAILABLE),
            new Row(IllegalArgumentException.class, BAD_REQUEST, "invalid_request"));

    private Problems() {}

    public static Problem of(Throwable thrown) {
        if (thrown instanceof Problem refused) {
            return refused;
        }
        if (thrown instanceof DocumentException refused) {
            return ofDocument(refused);
        }
        for (Row row : TABLE) {
            if (row.type().isInstance(thrown)) {
                return retried(new Problem(row.status(), row.code(), message(thrown)));
            }
        }
        LOG.error("a request failed because of a fault in the server", thrown);
        String detail = thrown instanceof CaravanException ? message(thrown) : "see the server's log";
        return new Problem(INTERNAL_SERVER_ERROR, "internal_error", detail);
    }

    private static Problem retried(Problem problem) {
        return problem.code().equals(ARCHIVE_UNAVAILABLE) ? problem.with("Retry-After", RETRY_SECONDS) : problem;
    }

    private static String message(Throwable thrown) {
        return String.valueOf(thrown.getMessage());
    }

    private static Problem ofDocument(DocumentException refused) {
        Problem problem = new Problem(
                status(refused.reason()), refused.reason().name().toLowerCase(Locale.ROOT), message(refused));
        return switch (refused.reason()) {
            case CLOSED ->
                problem.with(StreamHeaders.CLOSED, "true").with(StreamHeaders.NEXT_OFFSET, Offset.of(refused.actual()));
            case PRODUCER_FENCED -> problem.with(StreamHeaders.PRODUCER_EPOCH, Long.toString(refused.actual()));
            case PRODUCER_GAP ->
                problem.with(StreamHeaders.PRODUCER_EXPECTED_SEQ, Long.toString(refused.expected()))
                        .with(StreamHeaders.PRODUCER_RECEIVED_SEQ, Long.toString(refused.actual()));
            case RESTORING -> problem.with("Retry-After", RETRY_SECONDS);
            default -> problem;
        };
    }

    private static HttpResponseStatus status(DocumentException.Reason reason) {
        return switch (reason) {
            case NOT_FOUND, SOURCE_NOT_FOUND -> NOT_FOUND;
            case GONE -> GONE;
            case NOT_JSON, PRODUCER_EPOCH_START, FORK_POINT -> BAD_REQUEST;
            case PRODUCER_FENCED -> FORBIDDEN;
            case EXISTS,
                    CLOSED,
                    CONTENT_TYPE_MISMATCH,
                    STREAM_SEQ_REGRESSION,
                    SEQUENCE_CONFLICT,
                    PRODUCER_GAP,
                    SOURCE_GONE,
                    HAS_FORKS,
                    CHANGED_MEANWHILE -> CONFLICT;
            case RESTORING -> SERVICE_UNAVAILABLE;
        };
    }
}
