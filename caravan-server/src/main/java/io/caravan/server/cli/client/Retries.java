package io.caravan.server.cli.client;

import io.caravan.server.cli.common.IoSupplier;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Limits the retries of requests to a server that does not respond, and pauses before each retry.
 *
 * @param pause pauses for milliseconds; it is {@link #sleep} outside tests
 */
public record Retries(LongConsumer pause) {
    private static final int TRIES = 5;
    private static final long FIRST_PAUSE_MILLIS = 250;
    private static final long MAX_PAUSE_SECONDS = 60;
    private static final long MILLIS = 1_000;
    /** The HTTP statuses that mean that the server has not executed the request, but may soon execute a retry. */
    private static final Set<Integer> BUSY = Set.of(429, 502, 503, 504);

    /** Thrown if the server reports that it is temporarily unavailable. */
    public static final class BusyException extends IOException {
        private static final long serialVersionUID = 1L;

        private final long pauseMillis;

        private BusyException(String message, long pauseMillis) {
            super(message);
            this.pauseMillis = pauseMillis;
        }
    }

    /** Pauses the calling thread; throws {@link ClientException} if it is interrupted. */
    public static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw ClientException.failed("interrupted", stop);
        }
    }

    /** Returns the exception for a busy server's response, or null for any other response. */
    public static @Nullable BusyException busy(HttpLink link, HttpLink.Response response) {
        return BUSY.contains(response.status())
                ? new BusyException(
                        "the server at " + link.base() + " is busy: it responds with status " + response.status(),
                        pauseMillis(response.header("Retry-After")))
                : null;
    }

    /**
     * Converts the seconds or the date in a {@code Retry-After} header to a pause in milliseconds. Returns 0 if the
     * header is absent or invalid.
     */
    static long pauseMillis(@Nullable String retryAfter) {
        if (retryAfter == null) {
            return 0;
        }
        if (retryAfter.matches("[0-9]{1,9}")) {
            return Long.parseLong(retryAfter) * MILLIS;
        }
        try {
            ZonedDateTime until = ZonedDateTime.parse(retryAfter, DateTimeFormatter.RFC_1123_DATE_TIME);
            return Math.max(0, Duration.between(Instant.now(), until).toMillis());
        } catch (DateTimeException | ArithmeticException senseless) {
            return 0;
        }
    }

    public <T> T call(IoSupplier<T> request) throws IOException {
        return call(request, () -> 0);
    }

    /**
     * Sends a request until it succeeds, with a pause before each further attempt.
     *
     * @param received the amount of data received so far; an attempt that increases it restarts the count of failures
     * @throws ClientException if the request failed too often, or the server requests a pause of over a minute
     */
    public <T> T call(IoSupplier<T> request, LongSupplier received) throws IOException {
        int failures = 0;
        while (true) {
            long before = received.getAsLong();
            try {
                return request.get();
            } catch (IOException problem) {
                failures = received.getAsLong() > before ? 1 : failures + 1;
                waitAfter(problem, failures);
            }
        }
    }

    private void waitAfter(IOException problem, int failures) throws IOException {
        if (problem.getCause() instanceof SSLHandshakeException) {
            throw problem;
        }
        if (failures == TRIES) {
            throw ClientException.failed(
                    problem.getMessage() + " (tried " + TRIES + " times); to continue, run the command again", problem);
        }
        long millis = FIRST_PAUSE_MILLIS << failures - 1;
        if (problem instanceof BusyException busy && busy.pauseMillis > 0) {
            millis = busy.pauseMillis;
        }
        if (millis > MAX_PAUSE_SECONDS * MILLIS) {
            throw ClientException.failed(
                    problem.getMessage() + " and requests a pause of " + millis / MILLIS
                            + " s; to continue after that, run the command again",
                    problem);
        }
        pause.accept(millis);
    }
}
