package io.caravan.torture.embedded;

import io.caravan.Entry;
import io.caravan.ListInfo;
import io.caravan.torture.model.Intent;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Sends messages from the child to the supervisor.
 *
 * <p>Each method returns once the operating system has accepted the message, which then reaches the supervisor even if
 * this process dies. Acknowledgment callbacks report directly, on the store's thread, because a crash between an
 * acknowledgment and its report could hide a loss.
 */
final class Reporter {
    private final WritableByteChannel channel;

    Reporter(WritableByteChannel channel) {
        this.channel = channel;
    }

    void opened(long nanos) {
        send(Message.OPENED, longs(nanos));
    }

    void intents(List<Intent> intents) {
        int bytes = intents.stream().mapToInt(Intent::encodedBytes).sum();
        ByteBuffer body = ByteBuffer.allocate(Integer.BYTES + bytes).putInt(intents.size());
        intents.forEach(intent -> intent.encode(body));
        send(Message.INTENTS, body);
    }

    void acknowledged(long number, long sequence) {
        send(Message.ACKNOWLEDGED, longs(number, sequence));
    }

    void rejected(long number) {
        send(Message.REJECTED, longs(number));
    }

    void noSpace(long number, String words) {
        byte[] text = words.getBytes(StandardCharsets.UTF_8);
        ByteBuffer body = ByteBuffer.allocate(Long.BYTES + text.length);
        send(Message.NO_SPACE, body.putLong(number).put(text));
    }

    void readChecked() {
        send(Message.READ, longs());
    }

    void list(ListInfo info, List<Entry> entries) {
        int bytes = entries.stream()
                .mapToInt(entry -> Integer.BYTES + entry.value().length)
                .sum();
        ByteBuffer body = ByteBuffer.allocate(4 * Long.BYTES + bytes)
                .putLong(info.id())
                .putLong(info.firstSequence())
                .putLong(info.nextSequence())
                .putLong(info.bytes());
        entries.forEach(entry -> body.putInt(entry.value().length).put(entry.value()));
        send(Message.LIST, body);
    }

    void listed() {
        send(Message.LISTED, longs());
    }

    void problem(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        send(Message.PROBLEM, ByteBuffer.allocate(bytes.length).put(bytes));
    }

    void problem(String doing, Throwable problem) {
        StringWriter text = new StringWriter();
        problem.printStackTrace(new PrintWriter(text));
        problem(doing + ": " + text);
    }

    void closed() {
        send(Message.CLOSED, longs());
    }

    private static ByteBuffer longs(long... values) {
        ByteBuffer body = ByteBuffer.allocate(Long.BYTES * values.length);
        for (long value : values) {
            body.putLong(value);
        }
        return body;
    }

    private synchronized void send(Message message, ByteBuffer body) {
        body.flip();
        ByteBuffer bytes = ByteBuffer.allocate(Message.HEADER_BYTES + body.remaining())
                .putInt(body.remaining())
                .put(message.type())
                .put(body)
                .flip();
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException supervisorGone) {
            throw new UncheckedIOException(supervisorGone);
        }
    }
}
