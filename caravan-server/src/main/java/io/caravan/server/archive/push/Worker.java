package io.caravan.server.archive.push;

import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentException.Reason;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Does one job after the other until there are no more. What fails is weighed here; several threads run it. */
final class Worker implements Runnable {
    /** How often a document may fail while others succeed before it is left for the next round. */
    private static final int PATIENCE = 4;

    private final JobQueue queue;
    private final BackOff backOff;
    private final Survey survey;
    private final Figures figures;
    private final Ownership ownership;
    private final Supplier<@Nullable Pushes> pushes;
    private final FailureLog log;

    Worker(
            JobQueue queue,
            BackOff backOff,
            Survey survey,
            Figures figures,
            Ownership ownership,
            Supplier<@Nullable Pushes> pushes,
            FailureLog log) {
        this.queue = queue;
        this.backOff = backOff;
        this.survey = survey;
        this.figures = figures;
        this.ownership = ownership;
        this.pushes = pushes;
        this.log = log;
    }

    @Override
    public void run() {
        try {
            Job job = queue.take();
            while (job != null) {
                work(job);
                job = queue.take();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void work(Job job) {
        long start = System.nanoTime();
        boolean again = true;
        try {
            Pushes to = pushes.get();
            // Otherwise the archive has just become unknown: the job waits until it is known again.
            if (to != null) {
                push(job, to);
                again = false;
                backOff.succeeded(start);
                log.succeeded();
            }
        } catch (RuntimeException | Error problem) {
            again = failed(job, problem, start);
        } finally {
            if (again) {
                queue.putBack(job);
            } else {
                queue.done(job);
            }
        }
    }

    private void push(Job job, Pushes to) {
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
    private boolean failed(Job job, Throwable problem, long startNanos) {
        job.fail(problem);
        if (ownership.state() == ArchiveState.STOPPED) {
            return false;
        }
        Failure failure = Failure.of(problem);
        switch (failure.reach()) {
            case OWNER -> {
                ownership.lost(failure, ArchiveState.FENCED);
                return false;
            }
            case ALL -> {
                figures.failed(failure);
                backOff.failed(startNanos);
                ownership.suspect();
                log.interrupted(failure);
                return !job.failedAlone(figures.successes(), PATIENCE);
            }
            default -> {
                figures.failed(failure);
                ownership.suspect();
                log.failed(job.name(), failure, problem);
                return false;
            }
        }
    }
}
