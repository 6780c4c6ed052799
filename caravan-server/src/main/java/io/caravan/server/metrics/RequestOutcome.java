package io.caravan.server.metrics;

import java.util.Locale;

/** How a request ended. */
public enum RequestOutcome {
    /** Done. */
    OK,
    /** Refused: the client's affair. */
    REFUSED,
    /** Not done: the server's affair. */
    FAILED,
    /** The client went before it had its answer. */
    ABANDONED;

    private final String label = name().toLowerCase(Locale.ROOT);

    String label() {
        return label;
    }
}
