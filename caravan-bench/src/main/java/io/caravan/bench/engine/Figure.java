package io.caravan.bench.engine;

/** What can be measured. */
enum Figure {
    APPENDS_PER_SECOND("appends/s", "%,.0f"),
    VALUE_MB_PER_SECOND("value MB/s", "%,.1f"),
    LOG_MB_PER_SECOND("log MB/s", "%,.1f"),
    LONGEST_APPEND_MILLIS("longest stall of append, ms", "%,.2f"),
    LONGEST_ACK_GAP_MILLIS("longest time without ack, ms", "%,.2f"),
    P50_MICROS("p50, us", "%,.1f"),
    P99_MICROS("p99, us", "%,.1f"),
    FORCES("forces", "%,.0f"),
    BYTES_PER_FORCE("bytes a force", "%,.0f");

    private final String title;
    private final String format;

    Figure(String title, String format) {
        this.title = title;
        this.format = format;
    }

    String title() {
        return title;
    }

    String format() {
        return format;
    }
}
