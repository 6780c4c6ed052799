package io.caravan.bench.replay;

/** The messages between a {@link HostedTarget} and its {@link StoreHost}; the ordinal is the frame's type. */
enum HostMessage {
    /** Request: append the body. */
    APPEND,
    /** Request: append the body and drop everything before it. */
    SNAPSHOT,
    /** Request: return the retained entries. */
    READ,
    /** Reply: durable. */
    DURABLE,
    /** Reply: failed; the body says why. */
    FAILED,
    /** Reply: the retained entries, each as its length and its bytes. */
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
