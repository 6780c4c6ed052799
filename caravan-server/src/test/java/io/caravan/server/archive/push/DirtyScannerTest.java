package io.caravan.server.archive.push;

import io.caravan.server.archive.push.ArchiveSchedule.Job;
import io.caravan.server.document.DocumentService;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

class DirtyScannerTest {
    private static final int DOCUMENTS = 2 * DocumentService.STRIPES;

    private final ArchiveSchedule schedule = new ArchiveSchedule(
            1,
            new BackOff(System::nanoTime, () -> 0, Duration.ofSeconds(30)),
            System::nanoTime,
            0,
            () -> new IllegalStateException("closed"));

    /** Completes the jobs of the schedule without archiving the documents. */
    private void work() {
        try {
            for (Job job = schedule.take(); job != null; job = schedule.take()) {
                schedule.done(job);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void verifiesStripesBeyondScheduleCapacity() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            for (int i = 0; i < DOCUMENTS; i++) {
                server.push("document-" + i, "value");
            }
            schedule.distrust();
            DirtyScanner scanner =
                    new DirtyScanner(server.documents, schedule, InstantSource.system(), Duration.ofHours(10));
            schedule.open();
            Thread worker = new Thread(this::work);
            Thread scanning = new Thread(scanner);
            worker.start();
            scanning.start();
            try {
                Eventually.await("all documents were verified", schedule::verified);
            } finally {
                scanner.stop();
                schedule.close(true);
                scanning.join();
                worker.join();
            }
        }
    }
}
