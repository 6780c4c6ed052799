package io.caravan.server.protocol.resp.codec;

/** The versions of RESP; a connection starts with the first and changes by {@code HELLO}. */
public enum Protocol {
    RESP2(2),
    RESP3(3);

    private final int version;

    Protocol(int version) {
        this.version = version;
    }

    public int version() {
        return version;
    }
}
