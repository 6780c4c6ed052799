package io.caravan.bench.torture;

import io.caravan.bench.Frames;
import io.caravan.bench.Frames.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;

/** Records a child process's messages in the ledger, until the child closes its end of the socket. */
final class ChildListener {
    private final Ledger ledger;
    private final Message milestone;

    /**
     * Creates a listener.
     *
     * @param milestone the message that shows that the child has reached its goal
     */
    ChildListener(Ledger ledger, Message milestone) {
        this.ledger = ledger;
        this.milestone = milestone;
    }

    /** Reads messages until the socket is closed. */
    void readAll(ReadableByteChannel channel) throws IOException {
        Frames.Reader frames = new Frames.Reader(channel);
        for (Frame frame = frames.next(); frame != null; frame = frames.next()) {
            Message message = Message.of(frame.type());
            enter(message, frame.body());
            if (message == milestone || message == Message.PROBLEM) {
                ledger.reachMilestone();
            }
        }
    }

    private void enter(Message message, ByteBuffer body) {
        switch (message) {
            case OPENED -> ledger.opened(body.getLong(), Ledger.UNKNOWN);
            case INTENTS -> enterIntents(body);
            case ACKNOWLEDGED -> ledger.acknowledged(ledger.intent(body.getLong()), body.getLong());
            case REFUSED -> ledger.conflicted(ledger.intent(body.getLong()));
            case NO_SPACE -> ledger.refusedForSpace(ledger.intent(body.getLong()), text(body));
            case READ -> ledger.readChecked();
            case LIST -> enterList(body);
            case LISTED -> ledger.allListed();
            case PROBLEM -> ledger.problem("the child reports: " + text(body));
            case CLOSED -> ledger.closedCleanly();
        }
    }

    private static String text(ByteBuffer body) {
        return StandardCharsets.UTF_8.decode(body).toString();
    }

    private void enterIntents(ByteBuffer body) {
        for (int left = body.getInt(); left > 0; left--) {
            ledger.intend(Intent.decode(body));
        }
    }

    private void enterList(ByteBuffer body) {
        long id = body.getLong();
        ListModel list = new ListModel(body.getLong());
        long nextSequence = body.getLong();
        long bytes = body.getLong();
        while (body.hasRemaining()) {
            int length = body.getInt();
            list.append(body.slice(body.position(), length));
            body.position(body.position() + length);
        }
        if (list.nextSequence() != nextSequence || list.bytes() != bytes) {
            ledger.problem("list " + id + ": its info has next sequence " + nextSequence + " and" + " " + bytes
                    + " bytes, but reading it gives " + list.nextSequence() + " and " + list.bytes());
        }
        ledger.list(id, list);
    }
}
