package io.caravan.server.cli.operate;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The result of a check.
 *
 * @param problems the problems, the worst first; each is a metric beyond its limit, or a bad state that has no metric
 * @param figures the measured metrics
 * @param summary the text if there are no problems
 */
record Verdict(List<Problem> problems, List<Figure> figures, String summary) {
    record Problem(Status status, String text) {}

    static Verdict of(List<Problem> problems, List<Figure> figures, String summary) {
        List<Problem> all = new ArrayList<>(problems);
        figures.stream()
                .filter(figure -> figure.status() != Status.OK)
                .map(figure -> new Problem(figure.status(), figure.text()))
                .forEach(all::add);
        all.sort(Comparator.comparing(Problem::status).reversed());
        return new Verdict(List.copyOf(all), List.copyOf(figures), summary);
    }

    /** Creates a verdict without metrics. */
    static Verdict without(Status status, String text) {
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

    /** Returns the text without bars, because monitoring systems regard a bar as the end of the text. */
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
}
