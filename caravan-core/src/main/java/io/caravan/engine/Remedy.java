package io.caravan.engine;

import java.util.Locale;

/** Advice for a problem that keeps the store from creating or extending a file. */
final class Remedy {
    private Remedy() {}

    /** Returns the advice for an error message of the operating system. */
    static String of(String problem) {
        return problem.toLowerCase(Locale.ROOT).contains("too many open files")
                ? "the disk may have space, but this process may open no more files: raise its limit (LimitNOFILE in the"
                        + " systemd unit, or ulimit -n), or have fewer connections"
                : "make space on its disk";
    }
}
