package io.caravan.server.cli.operate;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The result of a check.
 *
 * @param problems the problems, the worst first; each is a metric beyond its limit, or a bad state that has no metric
 * @param figures the measured metrics
 * @param summary the text if there are no problems
 */
record CheckResult(List<Problem> problems, List<Figure> figures, String summary) {
    record Problem(Status status, String text) {}

    static CheckResult of(List<Problem> problems, List<Figure> figures, String summary) {
        List<Problem> all = new ArrayList<>(problems);
        figures.stream()
                .filter(figure -> figure.status() != Status.OK)
                .map(figure -> new Problem(figure.status(), figure.text()))
                .forEach(all::add);
        all.sort(Comparator.comparing(Problem::status).reversed());
        return new CheckResult(List.copyOf(all), List.copyOf(figures), summary);
    }

    /** Creates a result without metrics. */
    static CheckResult without(Status status, String text) {
        return of(List.of(new Problem(status, text)), List.of(), "");
    }

    Status status() {
        return Status.worst(problems.stream().map(Problem::status));
    }

    /** Returns one line: the status, the problems or the summary, and the metrics after a bar. */
    String line() {
        String performance = figures.stream().map(Figure::performance).collect(Collectors.joining(" "));
        return "CARAVAN " + status() + " - " + text() + (performance.isEmpty() ? "" : " | " + performance);
    }

    /** Returns the problems or the summary without bars, because a bar ends the text for monitoring systems. */
    private String text() {
        Stream<String> words =
                problems.isEmpty() ? Stream.of(summary) : problems.stream().map(Problem::text);
        return words.collect(Collectors.joining("; ")).replace('|', '/');
    }

    void write(JsonGenerator json) throws IOException {
        json.writeStringField("status", status().label());
        json.writeStringField("text", text());
        json.writeObjectFieldStart("figures");
        for (Figure figure : figures) {
            json.writeObjectFieldStart(figure.name());
            json.writeStringField("status", figure.status().label());
            json.writeNumberField("value", figure.value());
            json.writeStringField("unit", figure.unit());
            if (figure.limits().used()) {
                json.writeNumberField("warning", figure.limits().warning());
                json.writeNumberField("critical", figure.limits().critical());
            }
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    /** The statuses that monitoring systems use, with the exit codes of Nagios plugins. Ordered by severity. */
    enum Status {
        OK(0),
        /** The status could not be determined. */
        UNKNOWN(3),
        /** An operator should check the server, but not necessarily today. */
        WARNING(1),
        /** An operator must check the server now. */
        CRITICAL(2);

        private final int exitCode;

        Status(int exitCode) {
            this.exitCode = exitCode;
        }

        int exitCode() {
            return exitCode;
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Status worst(Stream<Status> all) {
            return all.max(Comparator.naturalOrder()).orElse(OK);
        }
    }

    /**
     * A metric, with the status that results from comparing it with its limits.
     *
     * @param name the name for programs
     * @param text a short human-readable text
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
}
