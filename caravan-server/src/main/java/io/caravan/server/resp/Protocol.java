package io.caravan.server.resp;

/** The versions of RESP; a connection starts with the first and changes by {@code HELLO}. */
enum Protocol {
    RESP2(2),
    RESP3(3);

    private final int version;

    Protocol(int version) {
        this.version = version;
    }

    int version() {
        return version;
    }
}
