package io.caravan.server.cli.common;

import java.util.Locale;

/** For whom to print. */
public enum OutputFormat {
    /** People, and programs that want the bytes as they are. */
    TEXT,
    /** Programs: one JSON object a line. */
    JSON;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
