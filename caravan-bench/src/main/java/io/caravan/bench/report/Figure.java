package io.caravan.bench.report;

import java.util.Locale;

/**
 * A measured quantity. The constants are quantities that several benchmarks share. A benchmark defines the others that
 * it needs.
 *
 * @param title heading of the column, with the unit
 * @param format format of a value, see {@link java.util.Formatter}
 */
public record Figure(String title, String format) {
    public static final Figure SECONDS = new Figure("seconds", "%,.1f");
    public static final Figure APPENDS_PER_SECOND = new Figure("appends/s", "%,.0f");
    public static final Figure VALUE_MB_PER_SECOND = new Figure("value MB/s", "%,.1f");
    public static final Figure LOG_MB_PER_SECOND = new Figure("log MB/s", "%,.1f");
    public static final Figure LONGEST_APPEND_MILLIS = new Figure("longest stall of append, ms", "%,.2f");
    public static final Figure LONGEST_ACK_GAP_MILLIS = new Figure("longest time without ack, ms", "%,.2f");
    public static final Figure DOCUMENTS_PER_SECOND = new Figure("documents/s", "%,.1f");
    public static final Figure REQUESTS_PER_SECOND = new Figure("requests/s", "%,.0f");
    public static final Figure GB_PER_SECOND = new Figure("GB/s", "%,.2f");
    public static final Figure CARAVAN_RATIO = new Figure("Caravan / this", "%,.2f");
    public static final Figure SERVER_CPU_MICROS = new Figure("server CPU, us a request", "%,.1f");
    public static final Figure CLIENT_CPU_MICROS = new Figure("client CPU, us a request", "%,.1f");
    public static final Figure P50_NANOS = new Figure("p50, ns", "%,.0f");
    public static final Figure P99_NANOS = new Figure("p99, ns", "%,.0f");
    public static final Figure P50_MICROS = new Figure("p50, us", "%,.1f");
    public static final Figure P99_MICROS = new Figure("p99, us", "%,.1f");
    public static final Figure P50_MILLIS = new Figure("p50, ms", "%,.2f");
    public static final Figure P98_MILLIS = new Figure("p98, ms", "%,.2f");
    public static final Figure P99_MILLIS = new Figure("p99, ms", "%,.2f");
    public static final Figure P999_MILLIS = new Figure("p99.9, ms", "%,.2f");
    public static final Figure MAX_MILLIS = new Figure("max, ms", "%,.1f");
    public static final Figure CLIENT_LATE_P999_MILLIS = new Figure("client late, p99.9, ms", "%,.2f");
    public static final Figure CLIENT_LATE_MAX_MILLIS = new Figure("client late, max, ms", "%,.1f");
    public static final Figure ERRORS = new Figure("errors", "%,.0f");
    public static final Figure FSYNCS = new Figure("fsyncs", "%,.0f");
    public static final Figure BYTES_PER_FSYNC = new Figure("bytes a fsync", "%,.0f");

    /** Formats a value for display. */
    public String text(double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
