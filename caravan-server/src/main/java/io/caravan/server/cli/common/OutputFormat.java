package io.caravan.server.cli.common;

import java.util.Locale;

/** How results are printed. */
public enum OutputFormat {
    /** For people, and for programs that want the bytes as they are. */
    TEXT,
    /** For programs: one JSON object a line. */
    JSON;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
