package io.caravan.bench.torture;

/** What a child tells the supervisor; the ordinal is the frame's type. */
enum Message {
    /** The store is open; how long that took, in nanoseconds. */
    OPENED,
    /** What is about to be submitted, one or several intents. */
    INTENTS,
    /** An intent's number, and the sequence its callback got. */
    ACKNOWLEDGED,
    /** The number of an intent that the store refused with a sequence conflict. */
    REFUSED,
    /** The number of an intent that the store had no space for, and the store's words. */
    NO_SPACE,
    /** A read was as it had to be. */
    READ,
    /** One list that the store holds: id, first and next sequence, byte count, then each value's length and bytes. */
    LIST,
    /** No further list follows. */
    LISTED,
    /** Something is wrong, in words. */
    PROBLEM,
    /** The store has been closed. */
    CLOSED;

    private static final Message[] ALL = values();

    @SuppressWarnings("EnumOrdinal") // both ends run the same classes
    byte type() {
        return (byte) ordinal();
    }

    static Message of(byte type) {
        return ALL[type];
    }
}
