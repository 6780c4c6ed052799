package io.caravan.server.archive.push;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.DocumentService;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Does one job after the other until there are no more, and decides what becomes of those that fail. Several threads
 * run it.
 */
final class Worker implements Runnable {
    /** How often a document may fail while others succeed before it is left for the next round. */
    private static final int PATIENCE = 4;

    private final JobQueue queue;
    private final BackOff backOff;
    private final Survey survey;
    private final ArchiveCounts figures;
    private final Ownership ownership;
    private final Supplier<@Nullable Pushes> pushes;
    private final FailureLog log;
    private final long laterNanos;

    /** What becomes of a job that was tried. */
    private enum Next {
        DONE,
        AGAIN,
        LATER
    }

    /**
     * A worker for {@link Archiver}.
     *
     * @param later how long after its failure a document is tried again, if others succeeded meanwhile
     */
    Worker(
            JobQueue queue,
            BackOff backOff,
            Survey survey,
            ArchiveCounts figures,
            Ownership ownership,
            Supplier<@Nullable Pushes> pushes,
            FailureLog log,
            Duration later) {
        this.queue = queue;
        this.backOff = backOff;
        this.survey = survey;
        this.figures = figures;
        this.ownership = ownership;
        this.pushes = pushes;
        this.log = log;
        this.laterNanos = later.toNanos();
    }

    @Override
    public void run() {
        while (true) {
            try {
                Job job = queue.take();
                if (job == null) {
                    return;
                }
                work(job);
            } catch (InterruptedException interrupted) {
                // What is called to archive may leave the flag behind: only the archiver's end is one of this thread.
                if (ownership.state().ended()) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    private void work(Job job) {
        long start = System.nanoTime();
        // If the archive has just been lost, the job waits until it is back.
        Next next = Next.AGAIN;
        try {
            Pushes to = pushes.get();
            if (to != null) {
                push(job, to);
                next = Next.DONE;
                backOff.succeeded(start);
                log.succeeded(job.name());
            }
        } catch (RuntimeException | Error problem) {
            next = failed(job, problem, start);
        } finally {
            switch (next) {
                case DONE -> queue.done(job);
                case AGAIN -> queue.putBack(job);
                case LATER -> queue.putOff(job, laterNanos);
            }
        }
    }

    private void push(Job job, Pushes to) {
        to.archive().ensureOwner();
        pushDeletions(job, to.deletions());
        Archived archived = to.documents().push(job.name());
        if (archived != null && archived.uploaded()) {
            figures.documentArchived();
        }
        Survey.Place place = job.place();
        if (place != null) {
            survey.done(place);
        }
        if (archived != null) {
            job.answer(archived);
        } else {
            job.fail(new DocumentException(Reason.NOT_FOUND, job.name(), "does not exist"));
        }
    }

    private void pushDeletions(Job job, DeletionPush to) {
        Iterator<Map.Entry<Deletion, Survey.Place>> left =
                job.deletions().entrySet().iterator();
        while (left.hasNext()) {
            Map.Entry<Deletion, Survey.Place> next = left.next();
            if (to.push(next.getKey())) {
                figures.deletionArchived();
            }
            survey.done(next.getValue());
            left.remove();
        }
    }

    /** Returns whether it is to be tried again before the next round. */
    private Next failed(Job job, Throwable problem, long startNanos) {
        job.fail(problem);
        if (ownership.state() == ArchiveState.STOPPED) {
            return Next.DONE;
        }
        Failure failure = Failure.of(problem);
        switch (failure.reach()) {
            case OWNER -> {
                ownership.lost(failure, ArchiveState.FENCED);
                return Next.DONE;
            }
            case ALL -> {
                figures.failed(failure);
                backOff.failed(startNanos);
                ownership.suspect();
                log.interrupted(failure);
                return job.failedAlone(figures.successes(), PATIENCE) ? laterIfNew(job) : Next.AGAIN;
            }
            default -> {
                figures.failed(failure);
                ownership.suspect();
                log.failed(job.name(), failure, problem);
                return laterIfNew(job);
            }
        }
    }

    /** The cause may pass soon, and the next round is far away. */
    private static Next laterIfNew(Job job) {
        return job.putOff() ? Next.LATER : Next.DONE;
    }

    /**
     * What can be done to an archive that is claimed.
     *
     * @param archive the archive
     * @param documents archives a document
     * @param deletions archives a deletion
     */
    record Pushes(Archive archive, DocumentPush documents, DeletionPush deletions) {

        static Pushes to(
                Archive archive, DocumentService documents, Survey survey, InstantSource clock, LongSupplier random) {
            return new Pushes(
                    archive,
                    new DocumentPush(documents, archive, survey, clock, random),
                    new DeletionPush(documents, archive));
        }
    }
}
