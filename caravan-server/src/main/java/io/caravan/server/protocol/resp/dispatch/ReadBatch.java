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
 * Consecutive reads of one connection, done one after the other on reading threads, with one hand-over for all of them.
 * A read that waits releases its thread, and those after it wait too, so that no later write overtakes them. The batch
 * releases its thread after a while, because others need one too, and when the client, or all clients together, have
 * enough answers to take.
 */
public final class ReadBatch implements Runnable {
    /** How long a batch keeps a thread, unless a single read takes longer. */
    private static final long TURN_NANOS = 10_000_000;

    private final Channel channel;
    private final Session session;
    private final Executor readers;
    private final ReplyQueue replies;
    private final Runnable paused;
    private final List<Step> steps = new ArrayList<>();

    private int next;
    private @Nullable Reading reading;

    /** Why the steps that look at documents are refused; null while they are not. */
    private @Nullable UnconfirmedReadException refusal;

    /** When the step's last turn began that may wait for as long as its client likes; 0 if there is none. */
    private volatile long waitingSince;

    private record Step(Action action, Command command, PendingReply place, boolean looks, boolean blocks) {}

    /**
     * A batch without reads.
     *
     * @param replies where the answers go
     * @param paused is run on the event loop when the batch is finished, or is to be started again once there is room
     *     for more answers
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
     * @param looks whether it must not tell what is old
     * @param blocks whether it may wait for as long as its client likes
     */
    public void add(Action action, Command command, PendingReply place, boolean looks, boolean blocks) {
        steps.add(new Step(action, command, place, looks, blocks));
    }

    /** For how long a step has waited that may wait for as long as its client likes; 0 if none does. On any thread. */
    public long waitingNanos() {
        long since = waitingSince;
        return since == 0 ? 0 : System.nanoTime() - since;
    }

    /** Starts the batch, once what its reads will see is known not to be old; they are refused if it may be. */
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

    /** Whether all reads are done; only while no thread runs the batch. */
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
        // Others that were admitted with it may have taken the room meanwhile.
        boolean over = !replies.answers().room();
        try {
            while (!waiting && !over && !finished() && channel.isActive()) {
                waiting = !run(steps.get(next));
                over = replies.full() || !replies.answers().room() || System.nanoTime() - start > TURN_NANOS;
            }
        } finally {
            // Otherwise the connection would wait for ever.
            if (!waiting) {
                channel.eventLoop().execute(paused);
            }
        }
    }

    /** Returns false when the step waits: another thread may then have the batch, so it must not be touched. */
    private boolean run(Step step) {
        try {
            if (refusal != null && step.looks()) {
                step.place().complete(Errors.reply(refusal));
            } else if (step.action() instanceof Action.Read read) {
                // The reads before it may have waited for long.
                CommandGate.requireStillKnown(session.principal());
                step.place().complete(read.run(session, step.command()));
            } else if (!proceed((Action.Stream) step.action(), step)) {
                return false;
            }
        } catch (RuntimeException problem) {
            step.place().complete(Errors.reply(problem));
        } catch (Error broken) {
            // There is no answer, and all later answers would wait for it.
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
