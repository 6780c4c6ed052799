package io.caravan.bench.layers;

import io.caravan.bench.report.Figure;

/** The figures of a layer. */
final class LayerFigures {
    static final Figure NANOS = new Figure("ns", "%,.1f");
    static final Figure ALLOCATED = new Figure("allocated, bytes", "%,.1f");
    static final Figure SHARE = new Figure("% of its thread's part of an append", "%,.0f");
    static final Figure CALLER_NANOS = new Figure("caller's CPU, ns", "%,.0f");
    static final Figure FLUSHER_NANOS = new Figure("flusher's CPU, ns", "%,.0f");
    static final Figure OTHER_NANOS = new Figure("other store threads' CPU, ns", "%,.0f");
    static final Figure CPU_NANOS = new Figure("CPU of store or server, ns", "%,.0f");

    static final Figure RECORDS = new Figure("records a flush", "%,.1f");

    private LayerFigures() {}
}
