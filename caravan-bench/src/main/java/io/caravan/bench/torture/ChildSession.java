package io.caravan.bench.torture;

import io.caravan.bench.LocalSocket;
import io.caravan.testing.ChildJvm;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** A child process with an embedded store. */
final class ChildSession extends Session {
    private final ChildJvm child;
    private final Thread listener;

    private ChildSession(ChildJvm child, Ledger ledger, Thread listener) {
        super("the child", ledger);
        this.child = child;
        this.listener = listener;
    }

    /**
     * Starts a child.
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
        try (SocketChannel channel = socket.accept(child, PATIENCE)) {
            if (channel != null) {
                new ChildListener(ledger, milestone).readAll(channel);
            }
        } catch (IOException problem) {
            ledger.problem("no message from the child, or an unreadable one: " + problem);
        } finally {
            ledger.reachMilestone();
        }
    }

    /**
     * Does nothing: a store reports a lack of space immediately, and the child forwards the report before it continues.
     */
    @Override
    public void oneAtATime() {}

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
        hearOut(child.kill(), ChildJvm.KILLED);
    }

    @Override
    public void stop() throws IOException, InterruptedException {
        child.askToStop();
        hearOut(child.awaitExit(), 0);
        if (!ledger().closed()) {
            ledger().problem("the child exited without closing the store");
        }
    }

    private void hearOut(int status, int expectedStatus) throws InterruptedException {
        listener.join(PATIENCE.toMillis());
        checkExit(status, expectedStatus);
    }

    @Override
    public void close() {
        child.explainIfAlive();
        child.close();
    }
}
