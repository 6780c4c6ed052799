package io.caravan.server.protocol.resp.codec;

/** The versions of RESP. A connection starts with RESP 2; {@code HELLO} changes the version. */
public enum RespVersion {
    RESP2(2),
    RESP3(3);

    private final int version;

    RespVersion(int version) {
        this.version = version;
    }

    public int version() {
        return version;
    }
}
