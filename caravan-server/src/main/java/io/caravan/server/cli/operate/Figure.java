package io.caravan.server.cli.operate;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * One thing that was looked at.
 *
 * @param name a word for programs
 * @param text a few words for people
 * @param value in {@code unit}
 * @param unit as Nagios's plugins have it: {@code s}, {@code B}, {@code %}, or nothing for a number
 */
record Figure(String name, Status status, String text, double value, String unit, Thresholds limits) {
    private static final int DECIMALS = 6;

    /** What comes behind the bar of a plugin's line. */
    String performance() {
        return name + "=" + number(value) + unit + ";" + limits.range(limits.warning()) + ";"
                + limits.range(limits.critical());
    }

    /** Without an exponent, which not every reader of such lines understands. */
    static String number(double value) {
        BigDecimal rounded = new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_UP);
        return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
    }
}
