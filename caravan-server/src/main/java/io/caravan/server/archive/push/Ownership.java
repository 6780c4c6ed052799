package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the archive over as soon as it can be reached, then checks that it is still this server's: at even intervals,
 * and when something has failed. One thread runs it; any may read its state.
 */
final class Ownership implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);

    private final Supplier<Archive> claim;
    private final long intervalNanos;
    private final BackOff backOff;
    private final ArchiveCounts figures;
    private final Consumer<@Nullable Archive> changed;
    private final Semaphore suspicions = new Semaphore(0);
    private volatile ArchiveState state = ArchiveState.CLAIMING;
    private volatile @Nullable Archive archive;
    private boolean told;

    /**
     * Owns nothing yet.
     *
     * @param claim takes the archive over
     * @param interval between two looks
     * @param changed is told of the archive when it is this server's, and null when it is no more; under this object's
     *     monitor
     */
    Ownership(
            Supplier<Archive> claim,
            Duration interval,
            BackOff backOff,
            ArchiveCounts figures,
            Consumer<@Nullable Archive> changed) {
        this.claim = claim;
        this.intervalNanos = interval.toNanos();
        this.backOff = backOff;
        this.figures = figures;
        this.changed = changed;
    }

    ArchiveState state() {
        return state;
    }

    /** The archive, if it is this server's. */
    @Nullable
    Archive archive() {
        return archive;
    }

    /**
     * Takes the archive over now if it answers; else it is tried again. One that is lost, or that another copy of this
     * store has taken over, is no reason not to serve.
     *
     * @throws ArchiveException when it answers that this store must not have it
     */
    void claimNow() {
        try {
            claimed(claim.get());
        } catch (ArchiveException refused) {
            if (refused.reason() != Reason.FENCED && refused.reason() != Reason.NOT_FOUND) {
                throw refused;
            }
            failed(refused, System.nanoTime());
        } catch (RuntimeException failed) {
            failed(failed, System.nanoTime());
        }
    }

    /** Something has failed, perhaps because the archive is not this server's any more. */
    void suspect() {
        suspicions.release();
    }

    /** Looks until the archive is not this server's any more, or the server stops. */
    @Override
    public void run() {
        boolean interrupted = false;
        while (!state.ended()) {
            try {
                step();
                suspicions.tryAcquire(waitNanos(), TimeUnit.NANOSECONDS);
                suspicions.drainPermits();
                // A suspicion is no reason to hurry a place that has just failed to answer.
                TimeUnit.NANOSECONDS.sleep(backOff.remainingNanos());
            } catch (InterruptedException perhapsNotMeant) {
                // A client library may leave the flag set. This thread ends only with the archiver.
                interrupted = state.ended();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private long waitNanos() {
        return archive == null ? backOff.remainingNanos() : intervalNanos;
    }

    private void step() {
        long start = System.nanoTime();
        Archive owned = archive;
        try {
            if (owned == null) {
                claimed(claim.get());
            } else {
                owned.checkOwner();
            }
            backOff.succeeded(start);
        } catch (RuntimeException | Error problem) {
            // Also an error: this thread is the only one that claims the archive, and nobody would see it end.
            failed(problem, start);
        }
    }

    private synchronized void claimed(Archive taken) {
        if (state.ended()) {
            return;
        }
        LOG.info(
                "archiving to {} as its owner number {}",
                taken.objects().location(),
                taken.root().epoch());
        told = false;
        archive = taken;
        state = ArchiveState.OWNER;
        changed.accept(taken);
    }

    private void failed(Throwable problem, long startNanos) {
        Failure failure = Failure.of(problem);
        Reason reason = problem instanceof ArchiveException archived ? archived.reason() : null;
        if (reason == Reason.FENCED || reason == Reason.FOREIGN) {
            lost(failure, reason == Reason.FENCED ? ArchiveState.FENCED : ArchiveState.REFUSED);
            return;
        }
        figures.failed(failure);
        backOff.failed(startNanos);
        if (failure.internal() && !told) {
            told = true;
            LOG.error("cannot find out who owns the archive, because of an error in the server", problem);
        } else if (archive == null && !told) {
            told = true;
            LOG.warn("the archive cannot be taken over yet, which is tried again: {}", failure.message());
        }
        if (reason != null) {
            // What is there now is not what was claimed.
            release(failure);
        }
    }

    private synchronized void release(Failure failure) {
        if (state == ArchiveState.OWNER) {
            LOG.error("archiving is interrupted: {}", failure.message());
            archive = null;
            state = ArchiveState.CLAIMING;
            changed.accept(null);
        }
    }

    /**
     * The archive is not this server's any more.
     *
     * @param last {@code FENCED} when another server of the store has it, {@code REFUSED} when it is another store's
     */
    synchronized void lost(Failure failure, ArchiveState last) {
        if (!state.ended()) {
            figures.failed(failure);
            LOG.error("this server has stopped archiving, and continues to serve: {}", failure.message());
            end(last);
        }
    }

    /** The server stops. */
    synchronized void stop() {
        if (!state.ended()) {
            end(ArchiveState.STOPPED);
        }
    }

    private void end(ArchiveState last) {
        state = last;
        archive = null;
        changed.accept(null);
        suspicions.release();
    }
}
