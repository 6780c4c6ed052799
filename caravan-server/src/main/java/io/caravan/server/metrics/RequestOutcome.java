package io.caravan.server.metrics;

import java.util.Locale;

/** How a request ended. */
public enum RequestOutcome {
    /** Done. */
    OK,
    /** Refused because of what the client asked for. */
    REFUSED,
    /** Failed in the server. */
    FAILED,
    /** The client disconnected before it had its answer. */
    ABANDONED;

    private final String label = name().toLowerCase(Locale.ROOT);

    String label() {
        return label;
    }
}
