package io.caravan.server.cli.doctor;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The result of one check: an observation, what it means, and the recommended change, which may be empty. */
public record Finding(Grade grade, String subject, String found, String change) {
    public enum Grade {
        OK,
        /** This machine does not support the check. */
        UNKNOWN,
        /** The item works, but could work better, or may soon fail. */
        WARNING,
        /** Data may be lost or readable by others, or the server will not start. */
        BAD;

        @JsonValue
        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static Finding ok(String subject, String found) {
        return new Finding(Grade.OK, subject, found, "");
    }

    static Finding unknown(String subject, String why) {
        return new Finding(Grade.UNKNOWN, subject, why, "");
    }

    static Finding warning(String subject, String found, String change) {
        return new Finding(Grade.WARNING, subject, found, change);
    }

    static Finding bad(String subject, String found, String change) {
        return new Finding(Grade.BAD, subject, found, change);
    }

    /** Returns the finding as one line, or as two lines if a change is recommended. */
    public String text() {
        String line = grade + "  " + subject + ": " + found;
        return change.isEmpty() ? line : line + System.lineSeparator() + "    change: " + change;
    }
}
