package io.caravan.bench.torture;

import io.caravan.bench.ChildJvm;
import io.caravan.bench.LocalSocket;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/** One child process from its start to its end, with the ledger of what it said. */
final class ChildSession implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ChildJvm child;
    private final Ledger ledger;
    private final Thread reader;
    private final long startNanos = System.nanoTime();

    private ChildSession(ChildJvm child, Ledger ledger, Thread reader) {
        this.child = child;
        this.ledger = ledger;
        this.reader = reader;
    }

    /**
     * Starts a child.
     *
     * @param milestone what {@link #awaitMilestone()} waits for
     */
    static ChildSession start(LocalSocket socket, String mainClass, ChildPlan plan, Path log, Message milestone)
            throws IOException {
        ChildJvm child = ChildJvm.start(mainClass, plan.toArguments(), log);
        Ledger ledger = new Ledger(plan.workers());
        Thread reader = new Thread(() -> read(socket, child, ledger, milestone), "ledger");
        reader.setDaemon(true);
        reader.start();
        return new ChildSession(child, ledger, reader);
    }

    private static void read(LocalSocket socket, ChildJvm child, Ledger ledger, Message milestone) {
        try (SocketChannel channel = socket.accept(child, PATIENCE)) {
            ledger.readAll(channel, milestone);
        } catch (IOException problem) {
            ledger.problems().add("no word from the child: " + problem);
        }
    }

    /** What the child said; complete once it has ended. */
    Ledger ledger() {
        return ledger;
    }

    /** Returns how long after the child's start the milestone came, in nanoseconds. */
    long awaitMilestone() throws IOException, InterruptedException {
        ledger.awaitMilestone(PATIENCE.toSeconds());
        return System.nanoTime() - startNanos;
    }

    /** Kills the child with SIGKILL, hears it out, and checks that this is what it died of. */
    void kill() throws IOException, InterruptedException {
        hearOut(child.kill(), ChildJvm.KILLED);
    }

    /** Has the child close the store and end, and hears it out. */
    void stop() throws IOException, InterruptedException {
        child.askToStop();
        hearOut(child.awaitExit(), 0);
        if (!ledger.closed()) {
            ledger.problems().add("the child ended without having closed the store");
        }
    }

    private void hearOut(int status, int expectedStatus) throws InterruptedException {
        reader.join(PATIENCE.toMillis());
        if (status != expectedStatus) {
            ledger.problems().add("the child ended with status " + status + " instead of " + expectedStatus);
        }
    }

    @Override
    public void close() {
        child.close();
    }
}
