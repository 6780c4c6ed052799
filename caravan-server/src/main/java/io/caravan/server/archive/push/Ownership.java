package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Pace;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.document.StoreIdentity;
import io.caravan.server.document.space.DocumentDurability;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes ownership of the archive as soon as the archive can be reached. Then it checks at regular intervals, and after
 * failures, that this server still owns the archive. One thread repeats {@link #step}; any thread may call the other
 * methods.
 */
final class Ownership implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Ownership.class);
    private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(1);

    private final ArchiveConfig config;
    private final ListStore store;
    private final ArchiveBinding binding;
    private final InstantSource clock;
    private final BackOff backOff;
    private final ArchiveCounters outcomes;
    private final Pace pace;
    private final ArchiveSchedule schedule;
    private final Semaphore suspicions = new Semaphore(0);
    private volatile ArchiveState state = ArchiveState.CLAIMING;
    private volatile @Nullable Archive archive;
    /** Guards the next two fields, so that opening an object store, which may be slow, does not delay {@link #stop}. */
    private final Object opening = new Object();

    private @Nullable ObjectStore objects;
    private boolean closed;
    private boolean logged;

    /** Creates an instance that does not own the archive yet; {@code schedule} is open while it does. */
    Ownership(
            ArchiveConfig config,
            ListStore store,
            DocumentDurability durability,
            InstantSource clock,
            BackOff backOff,
            ArchiveCounters outcomes,
            ArchiveSchedule schedule) {
        this.config = config;
        this.store = store;
        this.binding = new ArchiveBinding(store, durability, config.location(), config.takeover());
        this.clock = clock;
        this.backOff = backOff;
        this.outcomes = outcomes;
        this.pace = new Pace(config.bytesPerSecond(), outcomes::written);
        this.schedule = schedule;
    }

    ArchiveState state() {
        return state;
    }

    @Nullable
    Archive archive() {
        return archive;
    }

    long epoch() {
        Archive owned = archive;
        return owned == null ? 0 : owned.root().epoch();
    }

    /**
     * Takes ownership of the archive now if it can be reached; otherwise, the thread retries. If the archive is lost,
     * or another copy of this store has taken it over, the server serves its documents anyway.
     *
     * @throws ArchiveException when the archive is damaged or belongs to another store
     */
    void claimNow() {
        try {
            claim();
        } catch (RuntimeException problem) {
            if (problem instanceof ArchiveException rejected
                    && rejected.reason() != Reason.FENCED
                    && rejected.reason() != Reason.NOT_FOUND) {
                throw rejected;
            }
            failed(problem, System.nanoTime());
        }
    }

    /** Triggers a check of the ownership, after a failure. */
    void suspect() {
        suspicions.release();
    }

    /**
     * Records that the server is stopping cleanly, and that the archive has the generations that the documents' marks
     * record.
     */
    void trustMarks(Archive last) {
        binding.stopped(last.root());
    }

    /** Claims or checks the archive, and waits until the next time. Catches all exceptions and errors. */
    void step() throws InterruptedException {
        long start = System.nanoTime();
        Archive owned = archive;
        try {
            if (owned == null) {
                claim();
            } else {
                owned.checkOwner();
            }
            backOff.succeeded(start);
        } catch (RuntimeException | Error problem) {
            failed(problem, start);
        }
        long wait = archive == null
                ? backOff.remainingNanos()
                : Collections.min(List.of(config.after().dividedBy(4), LONGEST_INTERVAL))
                        .toNanos();
        suspicions.tryAcquire(wait, TimeUnit.NANOSECONDS);
        suspicions.drainPermits();
        // A requested check does not shorten the delay after a failed request.
        TimeUnit.NANOSECONDS.sleep(backOff.remainingNanos());
    }

    /** Takes ownership of the archive. Throws the exceptions of the object store, the archive, and the store. */
    private void claim() {
        // The name contains the process id and the host.
        String owner = ManagementFactory.getRuntimeMXBean().getName();
        try {
            Archive taken = Archive.claim(objects(), identity(), owner, clock, binding, config.leaseClock(), pace);
            if (!binding.claimed(taken.root())) {
                schedule.distrust();
            }
            LOG.info(
                    "archiving to {} as its owner number {}",
                    taken.objects().location(),
                    taken.root().epoch());
            logged = false;
            become(ArchiveState.OWNER, taken);
        } catch (ArchiveException changed) {
            if (changed.reason() == Reason.NOT_FOUND || changed.reason() == Reason.CORRUPT) {
                distrustMarks(changed);
            }
            throw changed;
        } catch (CompletionException rejected) {
            // The store has rejected a write of its identity or of the archive record.
            throw rejected.getCause() instanceof CaravanException problem ? problem : rejected;
        }
    }

    /** Records that the marks are not trusted, because an operator may replace the archive with an older copy. */
    private void distrustMarks(ArchiveException cause) {
        try {
            binding.distrust();
        } catch (CaravanException | CompletionException notRecorded) {
            cause.addSuppressed(notRecorded);
        }
    }

    private ObjectStore objects() {
        synchronized (opening) {
            if (closed) {
                throw new IllegalStateException("the archiver is closed");
            }
            if (objects == null) {
                objects = config.place().get();
            }
            return objects;
        }
    }

    private UUID identity() {
        if (config.adopts() && StoreIdentity.mayAdopt(store)) {
            try {
                StoreIdentity.adopt(store, Archive.open(objects()).root().store());
            } catch (ArchiveException none) {
                if (none.reason() != Reason.NOT_FOUND) {
                    throw none;
                }
            }
        }
        return StoreIdentity.of(store);
    }

    private void failed(Throwable problem, long startNanos) {
        Failure failure = Failure.of(problem);
        Reason reason = problem instanceof ArchiveException archived ? archived.reason() : null;
        if (reason == Reason.FENCED || reason == Reason.FOREIGN) {
            lost(failure, reason == Reason.FENCED ? ArchiveState.FENCED : ArchiveState.REJECTED);
            return;
        }
        outcomes.failed(failure);
        backOff.failed(startNanos);
        if (failure.internal() && !logged) {
            logged = true;
            LOG.error("cannot determine the owner of the archive, because of an error in the server", problem);
        } else if (archive == null && !logged) {
            logged = true;
            LOG.warn("cannot take ownership of the archive yet, retrying: {}", failure.message());
        }
        if (reason != null && state == ArchiveState.OWNER) {
            // The archive is no longer the one that was claimed.
            LOG.error("archiving is interrupted: {}", failure.message());
            become(ArchiveState.CLAIMING, null);
        }
    }

    /** Ends the ownership, because another server owns the archive; {@code REJECTED} if it serves another store. */
    synchronized void lost(Failure failure, ArchiveState last) {
        if (!state.ended()) {
            outcomes.failed(failure);
            LOG.error("this server has stopped archiving, and continues to serve: {}", failure.message());
            become(last, null);
        }
    }

    /** Ends the ownership, because the server is stopping. Returns the archive that it owned until now, or null. */
    synchronized @Nullable Archive stop() {
        Archive last = archive;
        become(ArchiveState.STOPPED, null);
        return last;
    }

    private synchronized void become(ArchiveState next, @Nullable Archive taken) {
        if (!state.ended()) {
            archive = taken;
            state = next;
            if (taken == null) {
                schedule.close(next.ended());
                suspicions.release();
            } else {
                schedule.open();
            }
        }
    }

    /** Closes the object store. Call {@link #stop} first. */
    @Override
    public void close() {
        synchronized (opening) {
            closed = true;
            if (objects != null) {
                objects.close();
            }
        }
    }
}
