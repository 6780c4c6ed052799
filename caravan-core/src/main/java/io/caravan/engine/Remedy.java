package io.caravan.engine;

import java.util.Locale;

/** What to do about a problem that keeps the store from making or growing a file. */
final class Remedy {
    private Remedy() {}

    /** For a message of the operating system's. */
    static String of(String problem) {
        return problem.toLowerCase(Locale.ROOT).contains("too many open files")
                ? "the disk may have space, but this process may open no more files: raise its limit (LimitNOFILE in the"
                        + " systemd unit, or ulimit -n), or have fewer connections"
                : "make space on its disk";
    }
}
