package io.caravan.bench.torture;

import io.caravan.Entry;
import io.caravan.ListInfo;
import io.caravan.bench.Frames;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Sends the child's messages to the supervisor.
 *
 * <p>Each method returns once the operating system has accepted the message, which then reaches the supervisor even if
 * this process dies. Acknowledgement callbacks report directly, on the store's thread, because a crash between an
 * acknowledgement and its report could hide a loss.
 */
final class Reporter {
    private final Frames.Writer frames;

    Reporter(WritableByteChannel channel) {
        frames = new Frames.Writer(channel);
    }

    void opened(long nanos) {
        send(Message.OPENED, ByteBuffer.allocate(Long.BYTES).putLong(nanos));
    }

    void intents(List<Intent> intents) {
        int bytes = intents.stream().mapToInt(Intent::encodedBytes).sum();
        ByteBuffer body = ByteBuffer.allocate(Integer.BYTES + bytes).putInt(intents.size());
        intents.forEach(intent -> intent.encode(body));
        send(Message.INTENTS, body);
    }

    void acknowledged(long number, long sequence) {
        send(
                Message.ACKNOWLEDGED,
                ByteBuffer.allocate(2 * Long.BYTES).putLong(number).putLong(sequence));
    }

    void refused(long number) {
        send(Message.REFUSED, ByteBuffer.allocate(Long.BYTES).putLong(number));
    }

    void noSpace(long number, String words) {
        byte[] text = words.getBytes(StandardCharsets.UTF_8);
        send(
                Message.NO_SPACE,
                ByteBuffer.allocate(Long.BYTES + text.length).putLong(number).put(text));
    }

    void readChecked() {
        send(Message.READ, ByteBuffer.allocate(0));
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
        send(Message.LISTED, ByteBuffer.allocate(0));
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
        send(Message.CLOSED, ByteBuffer.allocate(0));
    }

    private void send(Message message, ByteBuffer body) {
        try {
            frames.write(message.type(), body.flip());
        } catch (IOException supervisorGone) {
            throw new UncheckedIOException(supervisorGone);
        }
    }
}
