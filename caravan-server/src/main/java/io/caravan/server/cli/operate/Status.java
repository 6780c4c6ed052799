package io.caravan.server.cli.operate;

import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;

/** What monitoring systems tell apart, by the exit codes that Nagios's plugins have. From harmless to bad. */
enum Status {
    OK(0),
    /** It could not be found out. */
    UNKNOWN(3),
    /** Somebody should look, tomorrow. */
    WARNING(1),
    /** Somebody must look, now. */
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
