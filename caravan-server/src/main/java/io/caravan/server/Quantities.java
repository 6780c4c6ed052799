package io.caravan.server;

import io.caravan.FlushPolicy;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes and flush policies as people write them. */
final class Quantities {
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]{1,10})\\s*([a-z]*)");
    private static final Map<String, Long> BYTES = Map.of(
            "", 1L, "b", 1L, "k", 1L << 10, "kib", 1L << 10, "m", 1L << 20, "mib", 1L << 20, "g", 1L << 30, "gib",
            1L << 30);
    private static final Map<String, Long> NANOS = Map.of("us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);

    private Quantities() {}

    private static long parse(String text, Map<String, Long> units, String expected) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text.trim().toLowerCase(Locale.ROOT));
        Long unit = matcher.matches() ? units.get(matcher.group(2)) : null;
        if (unit == null) {
            throw new TypeConversionException("'" + text + "' is not " + expected);
        }
        return Long.parseLong(matcher.group(1)) * unit;
    }

    /** A number of bytes, such as {@code 65536}, {@code 64KiB} or {@code 1MiB}. */
    static final class Bytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return parse(text, BYTES, "a size, such as 65536, 64KiB or 1MiB");
        }
    }

    /** {@code immediate}, {@code adaptive}, or a delay such as {@code 2ms}. */
    static final class Policy implements ITypeConverter<FlushPolicy> {
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
