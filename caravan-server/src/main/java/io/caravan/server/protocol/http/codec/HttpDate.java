package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.DateFormatter;
import java.util.Date;

/** Formats times for the {@code Date} header. Caches the text of the last second. Thread-safe. */
final class HttpDate {
    private static final long MILLIS_PER_SECOND = 1_000;

    private record Formatted(long second, String text) {}

    private static volatile Formatted last = format(0);

    private HttpDate() {}

    /** Returns the text for a time in milliseconds since 1970. */
    static String at(long millis) {
        long second = Math.floorDiv(millis, MILLIS_PER_SECOND);
        Formatted formatted = last;
        if (formatted.second() != second) {
            formatted = format(second);
            last = formatted;
        }
        return formatted.text();
    }

    private static Formatted format(long second) {
        return new Formatted(second, DateFormatter.format(new Date(second * MILLIS_PER_SECOND)));
    }
}
