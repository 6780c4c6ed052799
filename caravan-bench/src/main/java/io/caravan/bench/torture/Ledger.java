package io.caravan.bench.torture;

import io.caravan.bench.Frames;
import io.caravan.bench.Frames.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The supervisor's record of what one child said, read on a thread of its own until the child's end of the line is
 * closed. What is not in here was not acknowledged.
 */
final class Ledger {
    private final List<List<Intent>> intents = new ArrayList<>();
    private final Map<Long, Long> told = new HashMap<>();
    private final List<Long> acknowledged = new ArrayList<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private final StoreModel found = new StoreModel();
    private final CountDownLatch milestone = new CountDownLatch(1);
    private volatile long openNanos = -1;
    private volatile boolean listed;
    private volatile boolean closed;

    Ledger(int workers) {
        for (int i = 0; i < workers; i++) {
            intents.add(new ArrayList<>());
        }
    }

    /**
     * Reads to the end of the line.
     *
     * @param channel null when the child ended before it said anything
     */
    void readAll(@Nullable ReadableByteChannel channel, Message milestoneMessage) {
        try {
            if (channel == null) {
                return;
            }
            Frames.Reader frames = new Frames.Reader(channel);
            for (Frame frame = frames.next(); frame != null; frame = frames.next()) {
                Message message = Message.of(frame.type());
                enter(message, frame.body());
                if (message == milestoneMessage || message == Message.PROBLEM) {
                    milestone.countDown();
                }
            }
        } catch (IOException problem) {
            problems.add("the child's messages cannot be read: " + problem);
        } finally {
            milestone.countDown();
        }
    }

    private void enter(Message message, ByteBuffer body) {
        switch (message) {
            case OPENED -> openNanos = body.getLong();
            case INTENTS -> enterIntents(body);
            case ACKNOWLEDGED -> enterAcknowledgement(body.getLong(), body.getLong());
            case REFUSED -> told.put(body.getLong(), StoreModel.REFUSED);
            case LIST -> enterList(body);
            case LISTED -> listed = true;
            case PROBLEM ->
                problems.add(
                        "the child says: " + StandardCharsets.UTF_8.decode(body).toString());
            case CLOSED -> closed = true;
        }
    }

    private void enterIntents(ByteBuffer body) {
        for (int left = body.getInt(); left > 0; left--) {
            Intent intent = Intent.decode(body);
            intents.get(Intent.worker(intent.number())).add(intent);
        }
    }

    private void enterAcknowledgement(long number, long sequence) {
        acknowledged.add(number);
        if (told.put(number, sequence) != null) {
            problems.add(Intent.name(number) + " was told twice");
        }
    }

    private void enterList(ByteBuffer body) {
        long id = body.getLong();
        ListModel list = new ListModel(body.getLong());
        long nextSequence = body.getLong();
        long bytes = body.getLong();
        while (body.hasRemaining()) {
            int length = body.getInt();
            list.append(StoreModel.item(body.slice(body.position(), length)));
            body.position(body.position() + length);
        }
        if (list.nextSequence() != nextSequence || list.bytes() != bytes) {
            problems.add("list " + id + ": its info says next sequence " + nextSequence + " and " + bytes
                    + " bytes, reading it gives " + list.nextSequence() + " and " + list.bytes());
        }
        if (found.lists().put(id, list) != null) {
            problems.add("list " + id + " was told twice by forEachList");
        }
    }

    /** Waits for the message that {@link #readAll} was told of, for a problem, or for the end. */
    void awaitMilestone(long seconds) throws IOException, InterruptedException {
        if (!milestone.await(seconds, TimeUnit.SECONDS)) {
            throw new IOException("the child has not got anywhere in " + seconds + " s");
        }
    }

    /** What a worker meant to do, in order. */
    List<Intent> intents(int worker) {
        return intents.get(worker);
    }

    /** What the store told of the intent: a sequence, {@link StoreModel#REFUSED}, or null when nothing was heard. */
    @Nullable
    Long told(Intent intent) {
        return told.get(intent.number());
    }

    /** Numbers of acknowledged intents, in the order in which they were. */
    List<Long> acknowledged() {
        return acknowledged;
    }

    List<String> problems() {
        return problems;
    }

    /** What the store holds, once {@link #listed()}. */
    StoreModel found() {
        return found;
    }

    boolean opened() {
        return openNanos >= 0;
    }

    long openNanos() {
        return openNanos;
    }

    boolean listed() {
        return listed;
    }

    /** Whether the child closed the store cleanly. */
    boolean closed() {
        return closed;
    }
}
