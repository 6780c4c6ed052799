package io.caravan.bench.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** RPUSH over RESP; each answer is one line. */
public final class RespAppends implements Protocol {
    private static final byte MARK = '*';
    private static final byte[] ANSWER = {':', '1', '\r', '\n'};

    private final byte[] tail;

    /**
     * Appends values of one length.
     *
     * @param valueBytes length of the values
     */
    public RespAppends(int valueBytes) {
        tail = ("\r\n$" + valueBytes + "\r\n" + "x".repeat(valueBytes) + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public byte[] append(int document) {
        String name = "load:" + document;
        byte[] head = ("*3\r\n$5\r\nRPUSH\r\n$" + name.length() + "\r\n" + name).getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + tail.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(tail, 0, request, head.length, tail.length);
        return request;
    }

    @Override
    public AnswerReader answers() {
        return new Lines();
    }

    @Override
    public byte mark() {
        return MARK;
    }

    @Override
    public byte[] answer() {
        return ANSWER;
    }

    /** Treats a line that is not a number as an error. */
    private static final class Lines implements AnswerReader {
        private boolean starts = true;
        private boolean error;

        @Override
        public void read(ByteBuffer bytes, Answers answers) {
            while (bytes.hasRemaining()) {
                byte next = bytes.get();
                if (starts) {
                    error = next != ':';
                    starts = false;
                } else if (next == '\n') {
                    starts = true;
                    answers.answered(error);
                }
            }
        }
    }
}
