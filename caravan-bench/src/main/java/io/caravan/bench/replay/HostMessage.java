package io.caravan.bench.replay;

/** What passes between a {@link HostedTarget} and its {@link StoreHost}; the ordinal is the frame's type. */
enum HostMessage {
    /** Request: append the body. */
    APPEND,
    /** Request: append the body and drop all before it. */
    SNAPSHOT,
    /** Request: tell the retained entries. */
    READ,
    /** Reply: durable. */
    DURABLE,
    /** Reply: not done; the body says why. */
    FAILED,
    /** Reply: the retained entries, each its length and its bytes. */
    ENTRIES;

    private static final HostMessage[] ALL = values();

    @SuppressWarnings("EnumOrdinal") // both ends run the same classes
    byte type() {
        return (byte) ordinal();
    }

    static HostMessage of(byte type) {
        return ALL[type];
    }
}
