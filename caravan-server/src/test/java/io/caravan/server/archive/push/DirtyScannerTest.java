package io.caravan.server.archive.push;

import io.caravan.server.archive.push.JobQueue.Job;
import io.caravan.server.document.DocumentService;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

class DirtyScannerTest {
    private static final int DOCUMENTS = 2 * DocumentService.STRIPES;

    private final JobQueue queue = new JobQueue(
            1, new BackOff(System::nanoTime, () -> 0), System::nanoTime, () -> new IllegalStateException("closed"));
    private final BacklogTracker survey = new BacklogTracker(DirtyScanner.SLOTS, 0);

    /** Completes the jobs of the queue without archiving the documents. */
    private void work() {
        try {
            for (Job job = queue.take(); job != null; job = queue.take()) {
                if (job.place != null) {
                    survey.done(job.place);
                }
                queue.done(job);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aStripeWithMoreDocumentsThanTheQueueTakesIsGoneThroughToItsEnd() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            for (int i = 0; i < DOCUMENTS; i++) {
                server.push("document-" + i, "value");
            }
            survey.distrust(DocumentService.STRIPES);
            ArchiveDeadlines intervals = new ArchiveDeadlines(server.documents.spaces(), Duration.ofHours(10));
            DirtyScanner walker =
                    new DirtyScanner(server.documents, queue, survey, InstantSource.system(), intervals, () -> {});
            queue.open();
            Thread worker = new Thread(this::work);
            Thread walking = new Thread(walker);
            worker.start();
            walking.start();
            try {
                Eventually.await("all were handed out", survey::verified);
            } finally {
                walker.stop();
                queue.close(true);
                walking.join();
                worker.join();
            }
        }
    }
}
