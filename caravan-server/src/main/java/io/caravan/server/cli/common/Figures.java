package io.caravan.server.cli.common;

import java.time.Duration;
import java.util.Locale;

/** Formats sizes and ages in human-readable form. */
public final class Figures {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
    private static final int UNIT = 1024;

    private Figures() {}

    /** Formats a size, such as {@code 17 B} or {@code 1.5 KiB}. */
    public static String size(long bytes) {
        double size = bytes;
        int unit = 0;
        while (size >= UNIT && unit < UNITS.length - 1) {
            size /= UNIT;
            unit++;
        }
        return unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.1f %s", size, UNITS[unit]);
    }

    /**
     * Formats an age, such as {@code 12s}, {@code 5m}, {@code 3h}, or {@code 40d}; negative if the start is in the
     * future.
     */
    public static String age(long fromMillis, long nowMillis) {
        Duration age = Duration.ofMillis(nowMillis - fromMillis);
        return age.isNegative() ? "-" + age(age.negated()) : age(age);
    }

    /** Formats an age, such as {@code 12s}, {@code 5m}, {@code 3h}, or {@code 40d}. */
    public static String age(Duration age) {
        if (age.toDays() >= 2) {
            return age.toDays() + "d";
        }
        if (age.toHours() >= 2) {
            return age.toHours() + "h";
        }
        return age.toMinutes() >= 2 ? age.toMinutes() + "m" : age.toSeconds() + "s";
    }

    /** Formats a count, such as {@code 1 document} or {@code 2 documents}. */
    public static String count(long number, String thing) {
        return String.format(Locale.ROOT, "%,d %s%s", number, thing, number == 1 ? "" : "s");
    }
}
