package io.caravan.server.cli.operate;

import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;

/** The statuses of monitoring systems, with the exit codes of Nagios plugins. Ordered by severity. */
enum Status {
    OK(0),
    /** The status could not be determined. */
    UNKNOWN(3),
    /** An operator should check the server, but not necessarily today. */
    WARNING(1),
    /** An operator must check the server now. */
    CRITICAL(2);

    private final int exitCode;

    Status(int exitCode) {
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Status worst(Stream<Status> all) {
        return all.max(Comparator.naturalOrder()).orElse(OK);
    }
}
