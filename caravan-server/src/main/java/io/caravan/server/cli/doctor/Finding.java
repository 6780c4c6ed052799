package io.caravan.server.cli.doctor;

/**
 * One thing that was looked at.
 *
 * @param subject what, in a word or two
 * @param found what there is, and what it means
 * @param change what to do about it; empty when there is nothing to do
 */
public record Finding(Grade grade, String subject, String found, String change) {
    /** How it is. */
    public enum Grade {
        OK,
        /** It could not be found out on this machine. */
        UNKNOWN,
        /** It works, but worse than it could, or may not for long. */
        WARNING,
        /** Data may be lost or seen by others, or the server will not start. */
        BAD
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

    /** One line, or two with what to change. */
    public String text() {
        String line = grade + "  " + subject + ": " + found;
        return change.isEmpty() ? line : line + System.lineSeparator() + "    change: " + change;
    }
}
