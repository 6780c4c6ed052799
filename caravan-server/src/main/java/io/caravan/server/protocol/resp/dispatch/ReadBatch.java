package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.document.ReadBarrier;
import io.caravan.server.document.ReadBarrier.UnconfirmedReadException;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.reply.Errors;
import io.caravan.server.protocol.resp.reply.PendingReply;
import io.caravan.server.protocol.resp.reply.ReplyQueue;
import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive reads of one connection, which run in order on reading threads, with one handover for all of them. A read
 * that waits releases its thread; the reads after it also wait, so that no later write overtakes them.
 *
 * <p>The batch releases its thread after a while, for other batches. It also does so when the client, or all clients
 * together, have enough replies to receive.
 */
public final class ReadBatch implements Runnable {
    /** Maximum time that a batch occupies a thread, unless a single read takes longer. */
    private static final long TURN_NANOS = 10_000_000;

    private final Channel channel;
    private final Session session;
    private final Executor readers;
    private final ReplyQueue replies;
    private final Runnable paused;
    private final List<Step> steps = new ArrayList<>();

    private int next;
    private @Nullable Reading reading;

    /** The reason for rejecting the steps that read documents; null if they are not rejected. */
    private @Nullable UnconfirmedReadException refusal;

    /** Start of the last turn of a step that may wait for as long as its client wants; 0 if no such step runs. */
    private volatile long waitingSince;

    private record Step(Action action, Command command, PendingReply place, boolean looks, boolean blocks) {}

    /**
     * Creates an empty batch.
     *
     * @param replies receives the replies
     * @param paused runs on the event loop when the batch is finished, or must be started again once more replies have
     *     space
     */
    public ReadBatch(Channel channel, Session session, Executor readers, ReplyQueue replies, Runnable paused) {
        this.channel = channel;
        this.session = session;
        this.readers = readers;
        this.replies = replies;
        this.paused = paused;
    }

    /**
     * Adds a read, before the batch begins.
     *
     * @param looks whether it must not return stale data
     * @param blocks whether it may wait for as long as its client wants
     */
    public void add(Action action, Command command, PendingReply place, boolean looks, boolean blocks) {
        steps.add(new Step(action, command, place, looks, blocks));
    }

    /** Returns how many nanoseconds a blocking step has waited since its last turn; 0 if none waits. On any thread. */
    public long waitingNanos() {
        long since = waitingSince;
        return since == 0 ? 0 : System.nanoTime() - since;
    }

    /** Starts the batch once its data is known not to be stale; rejects reads of documents if it may be. */
    public void begin(ReadBarrier barrier) {
        if (steps.stream().anyMatch(Step::looks)) {
            barrier.pass(this::start, this::refuse);
        } else {
            start();
        }
    }

    private void refuse(UnconfirmedReadException problem) {
        refusal = problem;
        start();
    }

    public int size() {
        return steps.size();
    }

    /** Whether all reads are done; call this only while no thread runs the batch. */
    public boolean finished() {
        return next == steps.size();
    }

    /** Continues the batch on a reading thread; may be called on any thread. */
    public void start() {
        try {
            readers.execute(this);
        } catch (RejectedExecutionException stopping) {
            channel.close();
        }
    }

    /** Runs until all reads are done, the turn is over, or a read waits. */
    @Override
    public void run() {
        long start = System.nanoTime();
        boolean waiting = false;
        // Other batches, admitted at the same time, may have taken the space since.
        boolean over = !replies.memory().room();
        try {
            while (!waiting && !over && !finished() && channel.isActive()) {
                waiting = !run(steps.get(next));
                over = replies.memory().full() || !replies.memory().room() || System.nanoTime() - start > TURN_NANOS;
            }
        } finally {
            // Otherwise, the connection would wait forever.
            if (!waiting) {
                channel.eventLoop().execute(paused);
            }
        }
    }

    /**
     * Runs a step; returns false if it waits. Another thread may then run the batch, so this one must not touch it.
     */
    private boolean run(Step step) {
        try {
            if (refusal != null && step.looks()) {
                step.place().complete(Errors.reply(refusal));
            } else if (step.action() instanceof Action.Read read) {
                // The reads before it may have waited for a long time.
                CommandGate.requireStillKnown(session.principal());
                step.place().complete(read.run(session, step.command()));
            } else if (!proceed((Action.Stream) step.action(), step)) {
                return false;
            }
        } catch (RuntimeException problem) {
            step.place().complete(Errors.reply(problem));
        } catch (Error broken) {
            // The step has no reply, so all later replies would wait for it.
            channel.close();
            throw broken;
        }
        waitingSince = 0;
        reading = null;
        next++;
        return true;
    }

    private boolean proceed(Action.Stream action, Step step) {
        if (reading == null) {
            reading = action.start(
                    session,
                    step.command(),
                    new Reading.Context(channel, session.principal(), step.place(), this::start));
        }
        if (step.blocks()) {
            waitingSince = System.nanoTime() | 1;
        }
        return reading.proceed();
    }
}
