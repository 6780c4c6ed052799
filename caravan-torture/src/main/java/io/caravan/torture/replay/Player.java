package io.caravan.torture.replay;

import io.caravan.bench.ProgressLine;
import io.caravan.torture.replay.Trace.Patch;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Replays one trace, storing entries as a document server would, and checks the entries that the target has retained.
 *
 * <p>At most a fixed number of appends (the window) are outstanding at any time. After a kill, the document is rebuilt
 * from the retained entries. It must contain every acknowledged transaction and nothing that was not sent; the replay
 * continues from there.
 */
final class Player {
    private static final long TIMEOUT_SECONDS = 60;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Thrown if the target has lost an acknowledged transaction, or fails. */
    static final class ReplayException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ReplayException(String message) {
            super(message);
        }
    }

    /**
     * The options of a replay.
     *
     * @param window maximum number of outstanding appends
     * @param snapshotEvery number of transactions between snapshots
     * @param kills how often the target is killed during the replay
     * @param seed seed for the moments of the kills
     */
    record Options(int window, int snapshotEvery, int kills, long seed) {}

    private final Trace trace;
    private final Target target;
    private final Options options;
    private final ProgressLine progress;
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private final ReplayReport report;
    private Semaphore window;
    private TextBuffer text;
    private int next;

    Player(Trace trace, Target target, Options options, ProgressLine progress) {
        this.trace = trace;
        this.target = target;
        this.options = options;
        this.progress = progress;
        report = new ReplayReport(target.description(), trace);
        window = new Semaphore(options.window());
        text = TextBuffer.of(trace.startContent());
    }

    /** Replays the complete trace; throws a {@link ReplayException} on any difference. */
    ReplayReport play() throws IOException, InterruptedException {
        open();
        Deque<Integer> kills = killPoints();
        long start = System.nanoTime();
        while (next < trace.transactions().size()) {
            Integer kill = kills.peek();
            if (kill != null && next >= kill) {
                kills.remove();
                killAndReopen();
            } else {
                playNext();
                showProgress(start);
            }
        }
        awaitAll();
        report.nanos = System.nanoTime() - start;
        progress.clear();
        checkEnd();
        return report;
    }

    private void open() throws IOException {
        target.open();
        if (!target.retained().isEmpty()) {
            throw new ReplayException("the document exists already");
        }
    }

    private Deque<Integer> killPoints() {
        return new SplittableRandom(options.seed())
                .ints(options.kills(), 0, Math.max(1, trace.transactions().size()))
                .sorted()
                .collect(ArrayDeque::new, ArrayDeque::add, ArrayDeque::addAll);
    }

    private void playNext() throws IOException, InterruptedException {
        List<Patch> patches = trace.transactions().get(next);
        byte[] entry = Entries.transaction(next, patches);
        patches.forEach(text::apply);
        next++;
        awaitRoom(1);
        report.transactionBytes += entry.length;
        target.append(entry, new Acknowledger(next));
        if (next % options.snapshotEvery() == 0) {
            byte[] snapshot = Entries.snapshot(next, text);
            awaitRoom(1);
            report.snapshots++;
            report.snapshotBytes += snapshot.length;
            target.snapshot(snapshot, new Acknowledger(next));
        }
    }

    private void awaitRoom(int permits) throws InterruptedException {
        boolean got = window.tryAcquire(permits, TIMEOUT_SECONDS, TimeUnit.SECONDS);
        String problem = failure.get();
        if (problem != null) {
            throw new ReplayException("not acknowledged: " + problem);
        }
        if (!got) {
            throw new ReplayException("nothing was acknowledged in " + TIMEOUT_SECONDS + " s");
        }
    }

    private void awaitAll() throws InterruptedException {
        awaitRoom(options.window());
        window.release(options.window());
    }

    private void killAndReopen() throws IOException {
        target.kill();
        int sent = next;
        int certain = acknowledged.get();
        long start = System.nanoTime();
        target.open();
        report.reopenNanos.add(System.nanoTime() - start);
        ReplayedDocument document = ReplayedDocument.rebuild(trace.startContent(), target.retained());
        int held = document.transactions();
        if (held < certain) {
            throw new ReplayException("killed after transaction " + sent + ": " + certain
                    + " were acknowledged, but the document holds " + held);
        }
        if (held > sent) {
            throw new ReplayException("killed after transaction " + sent + ": the document holds " + held);
        }
        checkText(document.text(), trace.textAfter(held), "after a kill, with " + held + " transactions");
        text = document.text();
        next = held;
        window = new Semaphore(options.window());
    }

    private void checkEnd() throws IOException {
        target.shut();
        target.open();
        List<byte[]> retained = target.retained();
        ReplayedDocument document = ReplayedDocument.rebuild(trace.startContent(), retained);
        checkText(document.text(), TextBuffer.of(trace.endContent()), "at the end");
        report.retained = retained.size();
    }

    private static void checkText(TextBuffer is, TextBuffer should, String when) {
        if (!is.equals(should)) {
            throw new ReplayException("the text rebuilt from the retained entries differs from the written one, " + when
                    + ": " + is.length() + " code points instead of " + should.length());
        }
    }

    private void showProgress(long start) {
        progress.show(() -> String.format(
                Locale.ROOT,
                "%,d of %,d transactions, %,.0f/s, ack p50 %,.0f us",
                next,
                trace.transactions().size(),
                acknowledged.get() / ((System.nanoTime() - start) / NANOS_PER_SECOND),
                ReplayReport.micros(report.ackNanos.getValueAtPercentile(50))));
    }

    /** Counts the transactions whose entries have become durable. */
    private final class Acknowledger implements Target.Acknowledgment {
        private final int transactions;
        private final Semaphore room = window;
        private final long sentNanos = System.nanoTime();

        Acknowledger(int transactions) {
            this.transactions = transactions;
        }

        @Override
        public void durable() {
            report.ackNanos.recordValue(System.nanoTime() - sentNanos);
            acknowledged.set(transactions);
            room.release();
        }

        @Override
        public void failed(String problem) {
            failure.compareAndSet(null, problem);
            room.release();
        }
    }
}
