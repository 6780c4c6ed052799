package io.caravan.server.cli.operate;

import io.caravan.server.cli.operate.Checks.Figure;
import io.caravan.server.cli.operate.Checks.Status;
import io.caravan.server.config.Quantities;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The limits beyond which a value causes a warning, or is critical.
 *
 * @param lowIsBad whether values below the limits are bad, for example for free space; otherwise, values above them are
 *     bad
 */
record Thresholds(double warning, double critical, boolean lowIsBad) {
    private static final String OFF = "off";
    static final Thresholds NEVER = new Thresholds(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, false);

    boolean used() {
        return !equals(NEVER);
    }

    Status status(double figure) {
        if (beyond(figure, critical)) {
            return Status.CRITICAL;
        }
        return beyond(figure, warning) ? Status.WARNING : Status.OK;
    }

    private boolean beyond(double figure, double limit) {
        return lowIsBad ? figure < limit : figure > limit;
    }

    /**
     * Formats a limit as a Nagios range: {@code 10:} means that values below 10 are bad, and {@code 10} means that
     * values above 10 are bad.
     */
    String range(double limit) {
        return used() ? Figure.number(limit) + (lowIsBad ? ":" : "") : "";
    }

    /** Parses {@code WARNING,CRITICAL}, or {@code off}. */
    private static class Pair implements ITypeConverter<Thresholds> {
        private final boolean lowIsBad;
        private final ToDoubleFunction<String> value;

        Pair(boolean lowIsBad, ToDoubleFunction<String> value) {
            this.lowIsBad = lowIsBad;
            this.value = value;
        }

        @Override
        public Thresholds convert(String text) {
            if (text.equals(OFF)) {
                return NEVER;
            }
            String[] parts = text.split(",", -1);
            if (parts.length != 2) {
                throw new TypeConversionException("'" + text + "' is neither WARNING,CRITICAL nor off");
            }
            Thresholds limits = new Thresholds(
                    value.applyAsDouble(parts[0].trim()), value.applyAsDouble(parts[1].trim()), lowIsBad);
            if (limits.beyond(limits.warning, limits.critical)) {
                throw new TypeConversionException("'" + text + "' has its limits in the wrong order: the second limit"
                        + " must not be " + (lowIsBad ? "above" : "below") + " the first");
            }
            return limits;
        }
    }

    /** Parses times. The values are in seconds. */
    static final class Times extends Pair {
        Times() {
            super(false, text -> new Quantities.Time().convert(text).toMillis() / 1e3);
        }
    }

    /** Parses sizes. The values are in bytes. */
    static final class Sizes extends Pair {
        Sizes() {
            super(false, new Quantities.Bytes()::convert);
        }
    }

    /** Parses percentages of free space. */
    static final class Percents extends Pair {
        Percents() {
            super(true, Percents::percent);
        }

        private static double percent(String text) {
            if (!text.matches("[0-9]{1,2}(\\.[0-9]{1,3})?%?|100%?")) {
                throw new TypeConversionException("'" + text + "' is not a part of a whole, such as 10%");
            }
            return Double.parseDouble(text.replace("%", ""));
        }
    }
}
