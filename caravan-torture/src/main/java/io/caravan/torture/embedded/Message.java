package io.caravan.torture.embedded;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The messages from a child to the supervisor. Each message consists of the length of its body, its type (the ordinal),
 * and the body. The last message of a killed child may be truncated; it then counts as never sent.
 */
enum Message {
    /** Reports that the store is open, and the number of nanoseconds that opening it took. */
    OPENED,
    /** Announces one or more intents that are about to be submitted. */
    INTENTS,
    /** Reports the number of an intent, and the sequence that its callback received. */
    ACKNOWLEDGED,
    /** Reports the number of an intent that the store rejected with a sequence conflict. */
    REJECTED,
    /** Reports the number of an intent for which the store had no space, and the store's error message. */
    NO_SPACE,
    /** Reports that a read returned the expected values. */
    READ,
    /** Contains one list of the store: id, first and next sequence, byte count, then each value's length and bytes. */
    LIST,
    /** Reports that all lists have been sent. */
    LISTED,
    /** Contains the description of a problem. */
    PROBLEM,
    /** Reports that the store has been closed. */
    CLOSED;

    static final int HEADER_BYTES = Integer.BYTES + 1;
    private static final int MAX_BODY_BYTES = 256 * 1024 * 1024;
    private static final Message[] ALL = values();

    @SuppressWarnings("EnumOrdinal") // both ends run the same classes
    byte type() {
        return (byte) ordinal();
    }

    /** Receives the messages one by one. */
    interface Receiver {
        void receive(Message message, ByteBuffer body);
    }

    /** Reads all complete messages up to the end of the stream. */
    static void readAll(InputStream stream, Receiver receiver) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(stream));
        try {
            while (true) {
                int length = in.readInt();
                byte type = in.readByte();
                if (length < 0 || length > MAX_BODY_BYTES) {
                    throw new IOException("a message of " + length + " bytes, type " + type + ": out of step");
                }
                byte[] body = new byte[length];
                in.readFully(body);
                receiver.receive(ALL[type], ByteBuffer.wrap(body));
            }
        } catch (EOFException end) {
            // The child has closed its end, or was killed.
        }
    }
}
