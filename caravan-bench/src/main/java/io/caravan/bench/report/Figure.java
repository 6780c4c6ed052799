package io.caravan.bench.report;

/** What can be measured. */
public enum Figure {
    SECONDS("seconds", "%,.1f"),
    APPENDS_PER_SECOND("appends/s", "%,.0f"),
    VALUE_MB_PER_SECOND("value MB/s", "%,.1f"),
    LOG_MB_PER_SECOND("log MB/s", "%,.1f"),
    LONGEST_APPEND_MILLIS("longest stall of append, ms", "%,.2f"),
    LONGEST_ACK_GAP_MILLIS("longest time without ack, ms", "%,.2f"),
    STORED_RATIO("stored / values", "%,.2f"),
    DOCUMENTS_PER_SECOND("documents/s", "%,.1f"),
    REQUESTS_PER_SECOND("requests/s", "%,.0f"),
    GB_PER_SECOND("GB/s", "%,.2f"),
    CARAVAN_RATIO("Caravan / this", "%,.2f"),
    PEER_RATIO("this / Caravan", "%,.2f"),
    SERVER_CPU_MICROS("server CPU, us a request", "%,.1f"),
    CLIENT_CPU_MICROS("client CPU, us a request", "%,.1f"),
    P50_MICROS("p50, us", "%,.1f"),
    P99_MICROS("p99, us", "%,.1f"),
    P50_MILLIS("p50, ms", "%,.2f"),
    P98_MILLIS("p98, ms", "%,.2f"),
    P99_MILLIS("p99, ms", "%,.2f"),
    P999_MILLIS("p99.9, ms", "%,.2f"),
    MAX_MILLIS("max, ms", "%,.1f"),
    CLIENT_LATE_P999_MILLIS("client late, p99.9, ms", "%,.2f"),
    CLIENT_LATE_MAX_MILLIS("client late, max, ms", "%,.1f"),
    ERRORS("errors", "%,.0f"),
    MISSED("never seen", "%,.0f"),
    RSS_BEFORE_MIB("RSS before, MiB", "%,.0f"),
    RSS_PEAK_MIB("RSS at most, MiB", "%,.0f"),
    RSS_AFTER_MIB("RSS after, MiB", "%,.0f"),
    ANONYMOUS_BEFORE_MIB("not of files before, MiB", "%,.0f"),
    ANONYMOUS_AFTER_MIB("not of files after, MiB", "%,.0f"),
    HEAP_BEFORE_MIB("heap used before, MiB", "%,.1f"),
    HEAP_AFTER_MIB("heap used after, MiB", "%,.1f"),
    RSS_KIB_EACH("RSS growth each, KiB", "%,.1f"),
    HEAP_KIB_EACH("heap growth each, KiB", "%,.1f"),
    FORCES("forces", "%,.0f"),
    BYTES_PER_FORCE("bytes a force", "%,.0f");

    private final String title;
    private final String format;

    Figure(String title, String format) {
        this.title = title;
        this.format = format;
    }

    public String title() {
        return title;
    }

    public String format() {
        return format;
    }
}
