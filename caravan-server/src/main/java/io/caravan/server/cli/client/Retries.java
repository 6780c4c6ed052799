package io.caravan.server.cli.client;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Set;
import java.util.function.LongConsumer;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Limits the retries of a request to a server that does not respond, and pauses before each retry. Not thread-safe. */
public final class Retries {
    private static final int TRIES = 5;
    private static final long FIRST_PAUSE_MILLIS = 250;
    private static final long MAX_PAUSE_SECONDS = 60;
    private static final long MILLIS = 1_000;
    /** The HTTP statuses that mean that the server has not executed the request, but may soon execute a retry. */
    private static final Set<Integer> BUSY = Set.of(429, 502, 503, 504);

    private final LongConsumer pause;
    private int failures;

    /** Thrown if the server reports that it is temporarily unavailable. */
    public static final class BusyException extends IOException {
        private static final long serialVersionUID = 1L;

        private final long pauseMillis;

        private BusyException(String message, long pauseMillis) {
            super(message);
            this.pauseMillis = pauseMillis;
        }
    }

    /** Creates an instance that pauses with this action, which is {@link #sleep} outside tests. */
    public Retries(LongConsumer pause) {
        this.pause = pause;
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

    /**
     * Waits until the request may be sent again.
     *
     * @param progress whether the failed attempt has transferred data, which restarts the count
     * @throws IOException the problem, if a retry cannot solve it
     * @throws ClientException if the request failed too often, the server requests a pause of over a minute, or the
     *     thread is interrupted
     */
    public void after(IOException problem, boolean progress) throws IOException {
        if (problem.getCause() instanceof SSLHandshakeException) {
            throw problem;
        }
        failures = progress ? 1 : failures + 1;
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
