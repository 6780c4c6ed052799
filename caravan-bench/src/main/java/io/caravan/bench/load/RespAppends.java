package io.caravan.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Appends with RPUSH over RESP. Several commands for one document may be sent together as one append, followed by a
 * command, such as {@code WAIT}, whose reply confirms their durability.
 */
public final class RespAppends implements Protocol {
    private static final byte MARK = '*';
    private static final byte[] REPLY = {':', '1', '\r', '\n'};

    private final byte[] tail;
    private final int together;
    private final byte[] confirmation;
    private final int lines;

    /**
     * Creates appends of values of one length, each with its own command.
     *
     * @param valueBytes length of the values
     */
    public RespAppends(int valueBytes) {
        this("x".repeat(valueBytes).getBytes(StandardCharsets.US_ASCII), 1, List.of());
    }

    /**
     * Creates appends that all have the same value.
     *
     * @param together number of commands that are sent together as one append
     * @param confirmation words of a command that follows them, whose reply must not be 0; empty if there is none
     */
    public RespAppends(byte[] value, int together, List<String> confirmation) {
        byte[] head = ("\r\n$" + value.length + "\r\n").getBytes(StandardCharsets.US_ASCII);
        this.tail = ByteBuffer.allocate(head.length + value.length + 2)
                .put(head)
                .put(value)
                .put((byte) '\r')
                .put((byte) '\n')
                .array();
        this.together = together;
        this.confirmation = (confirmation.isEmpty() ? "" : String.join(" ", confirmation) + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        this.lines = together + (confirmation.isEmpty() ? 0 : 1);
    }

    @Override
    public byte[] append(int document) {
        String name = "load:" + document;
        byte[] head = ("*3\r\n$5\r\nRPUSH\r\n$" + name.length() + "\r\n" + name).getBytes(StandardCharsets.US_ASCII);
        ByteBuffer request = ByteBuffer.allocate(together * (head.length + tail.length) + confirmation.length);
        for (int i = 0; i < together; i++) {
            request.put(head).put(tail);
        }
        return request.put(confirmation).array();
    }

    @Override
    public ReplyReader replies() {
        return new Lines();
    }

    @Override
    public byte mark() {
        return MARK;
    }

    @Override
    public byte[] reply() {
        return REPLY;
    }

    /** Parses replies of one line each. A reply that is not a number, or starts with 0, is an error. */
    private final class Lines implements ReplyReader {
        private int position;
        private int complete;
        private boolean error;

        @Override
        public void read(ByteBuffer bytes, Replies replies) throws IOException {
            while (bytes.hasRemaining()) {
                byte next = bytes.get();
                error |= position == 0 && next != ':' || position == 1 && next == '0';
                position++;
                if (next == '\n') {
                    position = 0;
                    complete++;
                }
                if (complete == lines) {
                    replies.replied(error);
                    complete = 0;
                    error = false;
                }
            }
        }
    }
}
