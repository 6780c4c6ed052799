package io.caravan.torture.embedded;

import io.caravan.testing.ChildJvm;
import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.round.TortureSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A session in a child process with an embedded store. */
final class ChildSession extends TortureSession {
    private final ChildJvm child;
    private final Thread listener;

    private ChildSession(ChildJvm child, Ledger ledger, Thread listener) {
        super("the child", ledger);
        this.child = child;
        this.listener = listener;
    }

    /**
     * Starts a child process that follows the plan.
     *
     * @param milestone the message that {@link #awaitMilestone()} waits for
     */
    static ChildSession start(LocalSocket socket, String mainClass, ChildPlan plan, Path log, Message milestone)
            throws IOException {
        ChildJvm child = ChildJvm.start(mainClass, plan.toArguments(), log);
        Ledger ledger = new Ledger(plan.workers());
        Thread listener = new Thread(() -> listen(socket, child, ledger, milestone), "ledger");
        listener.setDaemon(true);
        listener.start();
        return new ChildSession(child, ledger, listener);
    }

    private static void listen(LocalSocket socket, ChildJvm child, Ledger ledger, Message milestone) {
        try (SocketChannel channel = socket.accept(child, TIMEOUT)) {
            if (channel != null) {
                Message.readAll(Channels.newInputStream(channel), (message, body) -> {
                    enter(ledger, message, body);
                    if (message == milestone || message == Message.PROBLEM) {
                        ledger.reachMilestone();
                    }
                });
            }
        } catch (IOException problem) {
            ledger.problem("no message from the child, or an unreadable one: " + problem);
        } finally {
            ledger.reachMilestone();
        }
    }

    private static void enter(Ledger ledger, Message message, ByteBuffer body) {
        switch (message) {
            case OPENED -> ledger.openNanos = body.getLong();
            case INTENTS -> enterIntents(ledger, body);
            case ACKNOWLEDGED -> ledger.acknowledged(ledger.intent(body.getLong()), body.getLong());
            case REJECTED -> ledger.conflicted(ledger.intent(body.getLong()));
            case NO_SPACE -> ledger.rejectedForSpace(ledger.intent(body.getLong()), text(body));
            case READ -> ledger.reads.incrementAndGet();
            case LIST -> enterList(ledger, body);
            case LISTED -> ledger.listed = true;
            case PROBLEM -> ledger.problem("the child reports: " + text(body));
            case CLOSED -> ledger.closed = true;
        }
    }

    private static String text(ByteBuffer body) {
        return StandardCharsets.UTF_8.decode(body).toString();
    }

    private static void enterIntents(Ledger ledger, ByteBuffer body) {
        for (int left = body.getInt(); left > 0; left--) {
            ledger.intend(Intent.decode(body));
        }
    }

    private static void enterList(Ledger ledger, ByteBuffer body) {
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

    @Override
    public void pause() throws IOException {
        child.pause();
    }

    @Override
    public void resume() throws IOException {
        child.resume();
    }

    @Override
    public void kill() throws IOException, InterruptedException {
        readToEnd(child.kill(), ChildJvm.KILLED);
    }

    @Override
    public void stop() throws IOException, InterruptedException {
        child.requestStop();
        readToEnd(child.awaitExit(), 0);
        if (!ledger().closed) {
            ledger().problem("the child exited without closing the store");
        }
    }

    private void readToEnd(int status, int expectedStatus) throws InterruptedException {
        listener.join(TIMEOUT.toMillis());
        checkExit(status, expectedStatus);
    }

    @Override
    public void close() {
        child.explainIfAlive();
        child.close();
    }
}
