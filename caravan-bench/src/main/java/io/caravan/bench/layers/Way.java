package io.caravan.bench.layers;

import io.caravan.bench.report.Results.Row;

/** The ways to make whole appends, by what surrounds the store. */
enum Way {
    MUTED("no I/O", "log neither written nor forced", 1),
    PROCESS("store, PROCESS", "PROCESS", 1),
    SYNC("store, SYNC", "SYNC", 1),
    RESP_PIPELINED("RESP, -P 64", "SYNC", 64),
    RESP("RESP, -P 1", "SYNC", 1),
    HTTP_PIPELINED("HTTP, 16 pipelined", "SYNC", 16),
    HTTP("HTTP", "SYNC", 1);

    private final String title;
    private final String durability;
    private final int depth;

    Way(String title, String durability, int depth) {
        this.title = title;
        this.durability = durability;
        this.depth = depth;
    }

    String title() {
        return title;
    }

    Row row() {
        return new Row("whole append: " + title, Layers.CARAVAN, durability);
    }

    /** Outstanding requests on a connection. */
    int depth() {
        return depth;
    }
}
