package io.caravan.server.cli.operate;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * One metric that was checked.
 *
 * @param name the name for programs
 * @param text a short text for people
 * @param value in {@code unit}
 * @param unit the unit as in Nagios plugins: {@code s}, {@code B}, {@code %}, or empty for a number
 */
record Figure(String name, Status status, String text, double value, String unit, Thresholds limits) {
    private static final int DECIMALS = 6;

    /** Returns the performance data, which follows the bar in the output line of a Nagios plugin. */
    String performance() {
        return name + "=" + number(value) + unit + ";" + limits.range(limits.warning()) + ";"
                + limits.range(limits.critical());
    }

    /** Formats a number without an exponent, because some parsers of performance data do not support exponents. */
    static String number(double value) {
        BigDecimal rounded = new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_UP);
        return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
    }
}
