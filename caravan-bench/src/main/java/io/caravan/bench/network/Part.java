package io.caravan.bench.network;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The parts that can be measured, in order. */
enum Part {
    REDIS(RespRates::new),
    HTTP(HttpRates::new),
    TAILS(TailLatencies::new),
    DOCUMENT(DocumentReads::new),
    CONNECTIONS(ConnectionCosts::new);

    private final Function<Boolean, NetworkMeasure> measure;

    Part(Function<Boolean, NetworkMeasure> measure) {
        this.measure = measure;
    }

    /** Creates the measure; a quick one shows that it works, but not how fast it is. */
    NetworkMeasure measure(boolean quick) {
        return measure.apply(quick);
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Parses the name on the command line. */
    static final class Converter implements ITypeConverter<Part> {
        @Override
        public Part convert(String text) {
            return Arrays.stream(values())
                    .filter(part -> part.toString().equals(text))
                    .findAny()
                    .orElseThrow(() -> new TypeConversionException(
                            "no part is called " + text + "; the parts are" + " " + names()));
        }

        private static String names() {
            return Arrays.stream(values()).map(Part::toString).collect(Collectors.joining(", "));
        }
    }
}
