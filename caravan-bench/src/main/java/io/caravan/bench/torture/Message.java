package io.caravan.bench.torture;

/** The messages from a child to the supervisor; the ordinal identifies the type of the frame. */
enum Message {
    /** The store is open; contains the time taken to open it, in nanoseconds. */
    OPENED,
    /** One or more intents that are about to be submitted. */
    INTENTS,
    /** An intent's number, and the sequence that its callback received. */
    ACKNOWLEDGED,
    /** The number of an intent that the store rejected with a sequence conflict. */
    REFUSED,
    /** The number of an intent for which the store had no space, and the store's message. */
    NO_SPACE,
    /** A read returned the expected values. */
    READ,
    /** One list of the store: id, first and next sequence, byte count, then each value's length and bytes. */
    LIST,
    /** All lists have been reported. */
    LISTED,
    /** The description of a problem. */
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
