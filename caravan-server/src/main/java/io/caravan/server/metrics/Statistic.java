package io.caravan.server.metrics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A statistic of the server, which {@code GET /metrics}, {@code INFO}, or both report.
 *
 * @param name the name of the metric, with dots; empty if it is not a metric
 * @param unit the unit of the metric, for the documentation
 * @param text the meaning, in Markdown
 * @param label the label that distinguishes several values; null for a single value
 * @param values reads the values from a source, by label value; the key of a single value is empty
 * @param scale the factor from a value to the unit of the metric
 * @param field the field of {@code INFO}; null if it has none
 */
public record Statistic<T>(
        Type type,
        String name,
        String unit,
        String text,
        @Nullable String label,
        Function<T, Map<String, Number>> values,
        double scale,
        @Nullable Field field) {
    private static final double SECONDS_PER_NANO = 1e-9;

    /** The type of a metric. */
    public enum Type {
        COUNTER,
        GAUGE,
        /** A histogram, which {@link ServerMetrics} records itself. */
        HISTOGRAM
    }

    /** A field of {@code INFO}: the sum of the converted values. Others than {@code ADMIN} see only open fields. */
    public record Field(String section, String name, boolean open, Function<Number, Object> shown) {}

    /** Returns a counter whose unit is the last word of its name. */
    static <T> Statistic<T> counter(String name, String text, Function<T, Number> value) {
        return counter(name, unit(name), text, value);
    }

    static <T> Statistic<T> counter(String name, String unit, String text, Function<T, Number> value) {
        return single(Type.COUNTER, name, unit, text, value, 1);
    }

    /** Returns a gauge whose unit is the last word of its name. */
    static <T> Statistic<T> gauge(String name, String text, Function<T, Number> value) {
        return gauge(name, unit(name), text, value);
    }

    static <T> Statistic<T> gauge(String name, String unit, String text, Function<T, Number> value) {
        return single(Type.GAUGE, name, unit, text, value, 1);
    }

    /** Returns a gauge in seconds, whose values are supplied in nanoseconds. */
    static <T> Statistic<T> seconds(String name, String text, Function<T, Number> nanos) {
        return single(Type.GAUGE, name, "seconds", text, nanos, SECONDS_PER_NANO);
    }

    /** Returns a statistic that only {@code INFO} reports. */
    static <T> Statistic<T> info(String section, String field, Function<T, Number> value) {
        return single(Type.GAUGE, "", "", "", value, 1).field(section, field);
    }

    static String unit(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static <T> Statistic<T> single(
            Type type, String name, String unit, String text, Function<T, Number> value, double scale) {
        return new Statistic<>(type, name, unit, text, null, source -> Map.of("", value.apply(source)), scale, null);
    }

    static <T> Statistic<T> several(
            Type type, String name, String unit, String text, String label, Function<T, Map<String, Number>> values) {
        return new Statistic<>(type, name, unit, text, label, values, 1, null);
    }

    Statistic<T> scale(double factor) {
        return new Statistic<>(type, name, unit, text, label, values, factor, field);
    }

    /** Adds a field of {@code INFO} that shows administrators the value as an integer. */
    Statistic<T> field(String section, String fieldName) {
        return field(section, fieldName, Number::longValue);
    }

    Statistic<T> field(String section, String fieldName, Function<Number, Object> shown) {
        return with(new Field(section, fieldName, false, shown));
    }

    /** Adds a field of {@code INFO} that shows the unchanged value to all clients. */
    Statistic<T> openField(String section, String fieldName) {
        return with(new Field(section, fieldName, true, number -> number));
    }

    private Statistic<T> with(Field shown) {
        return new Statistic<>(type, name, unit, text, label, values, scale, shown);
    }

    boolean isMetric() {
        return !name.isEmpty();
    }

    /** Returns the row of the metric in {@code docs/reference/metrics.md}. */
    String row() {
        String prometheusName = name.replace('.', '_') + (type == Type.COUNTER ? "_total" : "");
        return "| `" + prometheusName + "` | " + type.name().toLowerCase(Locale.ROOT) + " | " + unit + " | " + text
                + " |";
    }

    double metric(T source, String labelValue) {
        return values.apply(source).getOrDefault(labelValue, 0).doubleValue() * scale;
    }

    private Number sum(T source) {
        Map<String, Number> all = values.apply(source);
        return all.size() == 1
                ? all.values().iterator().next()
                : all.values().stream().mapToLong(Number::longValue).sum();
    }

    /** Returns the fields of a section of {@code INFO}, with or without those for administrators. */
    public static <T> Map<String, Object> fields(List<Statistic<T>> statistics, T source, String section, boolean all) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (Statistic<T> statistic : statistics) {
            Field field = statistic.field();
            if (field != null && field.section().equals(section) && (all || field.open())) {
                fields.put(field.name(), field.shown().apply(statistic.sum(source)));
            }
        }
        return fields;
    }
}
