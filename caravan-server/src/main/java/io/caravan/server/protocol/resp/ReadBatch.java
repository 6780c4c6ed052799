package io.caravan.server.protocol.resp;

import io.caravan.server.document.ReadBarrier;
import io.caravan.server.document.ReadBarrier.UnconfirmedReadException;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive reads of one connection, which run in order on a reading thread. A read that must wait releases its
 * thread, and the later reads of the batch wait for that read.
 *
 * <p>The batch also releases its thread after a time limit, so that other batches can run, and when the replies of the
 * client or of all clients use too much memory.
 */
final class ReadBatch implements Runnable {
    /** Maximum time for which a batch occupies a thread, unless a single read takes longer. */
    private static final long TURN_NANOS = 10_000_000;

    private final Session session;
    private final Executor readers;
    private final Runnable paused;
    private final List<PendingReply> reads;

    private int next;

    /** The reason for rejecting the reads of documents; null if these reads are not rejected. */
    private @Nullable UnconfirmedReadException rejection;

    /**
     * Start time of the last turn of a read that may wait for as long as its client chooses; 0 if no such read is
     * running.
     */
    private volatile long waitingSince;

    /**
     * Creates a batch of these reads. {@code paused} runs on the event loop when the batch is finished, or when it has
     * paused and must be started again once there is space for replies.
     */
    ReadBatch(Session session, Executor readers, List<PendingReply> reads, Runnable paused) {
        this.session = session;
        this.readers = readers;
        this.reads = reads;
        this.paused = paused;
        reads.forEach(read -> read.nextTurn = this::start);
    }

    /** Returns how long a blocking read has waited, in nanoseconds; 0 if there is none. Callable on any thread. */
    long waitingNanos() {
        long since = waitingSince;
        return since == 0 ? 0 : System.nanoTime() - since;
    }

    /**
     * Starts the batch after it has passed the barrier. If the barrier fails, the batch rejects all reads of documents.
     */
    void begin(ReadBarrier barrier) {
        if (reads.stream().anyMatch(ReadBatch::readsDocuments)) {
            barrier.pass(this::start, problem -> {
                rejection = problem;
                start();
            });
        } else {
            start();
        }
    }

    /** Whether all reads are done. Call this only while no thread runs the batch. */
    boolean finished() {
        return next == reads.size();
    }

    /** Starts or continues the batch on a reading thread. Callable on any thread. */
    void start() {
        session.execute(readers, this);
    }

    /** Runs until all reads are done, the turn is over, or a read waits. */
    @Override
    public void run() {
        long start = System.nanoTime();
        boolean waiting = false;
        // Other batches may have used the space since this batch was admitted.
        boolean over = !session.memory.room();
        try {
            while (!waiting && !over && !finished() && session.channel.isActive()) {
                waiting = !run(reads.get(next));
                over = session.memory.full() || !session.memory.room() || System.nanoTime() - start > TURN_NANOS;
            }
        } finally {
            // Otherwise, the connection would wait forever.
            if (!waiting) {
                session.channel.eventLoop().execute(paused);
            }
        }
    }

    /**
     * Runs one read of the batch. Returns false if the read must wait; another thread may then run the batch, so this
     * thread must no longer use the batch.
     */
    private boolean run(PendingReply place) {
        try {
            if (rejection != null && readsDocuments(place)) {
                place.failure(rejection);
            } else if (place.reply() == null && !proceed(place)) {
                return false;
            }
        } catch (RuntimeException problem) {
            place.failure(problem);
        } catch (Error broken) {
            // All later replies would wait for this reply.
            session.channel.close();
            throw broken;
        }
        waitingSince = 0;
        next++;
        return true;
    }

    private boolean proceed(PendingReply place) {
        ResumableRead read = place.read;
        if (read == null && place.spec.action instanceof Action.Read action) {
            read = action.start(place);
            place.read = read;
        }
        waitingSince = place.spec.blocks() ? System.nanoTime() | 1 : 0;
        return Objects.requireNonNull(read).proceed();
    }

    /** Whether a command must not return stale data. A write that continues on a reading thread returns none. */
    private static boolean readsDocuments(PendingReply place) {
        return place.spec.action instanceof Action.Read && place.spec.readsDocuments();
    }
}
