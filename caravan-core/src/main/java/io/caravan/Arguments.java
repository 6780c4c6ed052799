package io.caravan;

/** Validates arguments, and throws an {@link IllegalArgumentException} that names the invalid argument. */
final class Arguments {

    private Arguments() {}

    static long notNegative(long value, String name) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " must be zero or more, was " + value);
        }
        return value;
    }

    static long between(long value, long min, long max, String name) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " must be from " + min + " to " + max + ", was " + value);
        }
        return value;
    }

    static double fraction(double value, String name) {
        if (!(value > 0 && value <= 1)) {
            throw new IllegalArgumentException(name + " must be above 0 and at most 1, was " + value);
        }
        return value;
    }
}
