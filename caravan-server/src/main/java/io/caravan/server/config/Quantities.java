package io.caravan.server.config;

import io.caravan.FlushPolicy;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts option values that are sizes, times, numbers, or flush policies. */
public final class Quantities {
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]{1,10})\\s*([a-z]*)");
    private static final Map<String, Long> BYTES = Map.of(
            "", 1L, "b", 1L, "k", 1L << 10, "kib", 1L << 10, "m", 1L << 20, "mib", 1L << 20, "g", 1L << 30, "gib",
            1L << 30);
    private static final Map<String, Long> NANOS = Map.of("us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);
    private static final Map<String, Long> MILLIS = Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L);
    private static final String AUTO = "auto";
    private static final String OFF = "off";
    private static final int MAX_THREADS = 1024;
    private static final int MAX_CONNECTIONS = 10_000_000;

    private Quantities() {}

    private static long parse(String text, Map<String, Long> units, String expected) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text.trim().toLowerCase(Locale.ROOT));
        Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
        if (unit == null) {
            throw new TypeConversionException("'" + text + "' is not " + expected);
        }
        return Long.parseLong(matcher.group(1)) * unit;
    }

    /** Throws {@link IllegalArgumentException} with the message {@code otherwise} unless the condition holds. */
    public static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static int autoOrCount(String text, int max) {
        int count = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
        if (count > max || count == 0 && !text.equalsIgnoreCase(AUTO)) {
            throw new TypeConversionException("'" + text + "' is not auto or a number from 1 to " + max);
        }
        return count;
    }

    /** Converts a number of threads: {@code auto} to 0, or a number from 1 to {@value #MAX_THREADS}. */
    public static final class Threads implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return autoOrCount(text, MAX_THREADS);
        }
    }

    /** Converts a number of connections: {@code auto} to 0, or a number from 1 to {@value #MAX_CONNECTIONS}. */
    public static final class Connections implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return autoOrCount(text, MAX_CONNECTIONS);
        }
    }

    /** Converts a time, such as {@code 500ms}, {@code 30s}, {@code 5m}, or {@code 1h}. */
    public static final class Time implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return Duration.ofMillis(parse(text, MILLIS, "a time, such as 500ms, 30s, 5m or 1h"));
        }
    }

    /** Converts the time between two events, at least one second, or {@code off} to zero. */
    public static final class PeriodOrOff implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            Duration period = timeOrOff(text);
            if (!period.isZero() && period.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new TypeConversionException("'" + text + "' is not off or a time of 1s or more");
            }
            return period;
        }
    }

    private static Duration timeOrOff(String text) {
        return text.equalsIgnoreCase(OFF) ? Duration.ZERO : new Time().convert(text);
    }

    /** Converts a time as {@link Time} does, {@code off} to zero, or {@code auto} to null. */
    public static final class TimeOffOrAuto implements ITypeConverter<Duration> {
        @Override
        @SuppressWarnings("NullAway") // picocli accepts null as a value
        public @Nullable Duration convert(String text) {
            return text.equalsIgnoreCase(AUTO) ? null : timeOrOff(text);
        }
    }

    /** Converts a size as {@link Bytes} does, or {@code auto} to 0. */
    public static final class BytesOrAuto implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return text.equalsIgnoreCase(AUTO) ? 0L : new Bytes().convert(text);
        }
    }

    /** Converts a number of bytes, such as {@code 65536}, {@code 64KiB}, or {@code 1MiB}. */
    public static final class Bytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return parse(text, BYTES, "a size, such as 65536, 64KiB or 1MiB");
        }
    }

    /** Converts a flush policy: {@code immediate}, {@code adaptive}, or a delay such as {@code 2ms}. */
    public static final class Policy implements ITypeConverter<FlushPolicy> {
        @Override
        public FlushPolicy convert(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "immediate" -> FlushPolicy.immediate();
                case "adaptive" -> FlushPolicy.adaptive();
                default -> delay(text);
            };
        }

        private static FlushPolicy delay(String text) {
            long nanos = parse(text, NANOS, "immediate, adaptive, or a delay such as 500us or 2ms");
            try {
                return FlushPolicy.fixedDelay(Duration.ofNanos(nanos));
            } catch (IllegalArgumentException outOfRange) {
                throw new TypeConversionException("a delay of " + text + " is over one minute");
            }
        }
    }
}
