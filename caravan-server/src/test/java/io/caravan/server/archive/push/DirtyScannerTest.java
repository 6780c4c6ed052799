package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSchedule.Job;
import io.caravan.server.document.DocumentService;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DirtyScannerTest {
    private static final int DOCUMENTS = 2 * DocumentService.STRIPES;

    private final ArchiveSchedule schedule = new ArchiveSchedule(
            1,
            new BackOff(System::nanoTime, () -> 0, Duration.ofSeconds(30)),
            System::nanoTime,
            0,
            () -> new IllegalStateException("closed"));

    private final Set<DocumentName> taken = ConcurrentHashMap.newKeySet();

    /** Completes the jobs of the schedule without archiving the documents. */
    private void work() {
        try {
            for (Job job = schedule.take(); job != null; job = schedule.take()) {
                taken.add(job.name);
                schedule.done(job);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Scans changed documents until a condition holds. */
    private void scanUntil(ArchivedDocuments server, String what, BooleanSupplier condition) throws Exception {
        for (int i = 0; i < DOCUMENTS; i++) {
            server.push("document-" + i, "value");
        }
        DirtyScanner scanner =
                new DirtyScanner(server.documents, schedule, InstantSource.system(), Duration.ofHours(10));
        schedule.open();
        Thread worker = new Thread(this::work);
        Thread scanning = new Thread(() -> scan(scanner));
        worker.start();
        scanning.start();
        try {
            Eventually.await(what, condition);
        } finally {
            schedule.close(true);
            scanning.interrupt();
            scanning.join();
            worker.join();
        }
    }

    private static void scan(DirtyScanner scanner) {
        try {
            while (true) {
                scanner.step();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Without a worker, the schedule has no space for all changes. */
    @Test
    void archiveAllFailsIfTimeOrScheduleEnds() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            server.push("a", "value");
            server.push("b", "value");
            DirtyScanner scanner =
                    new DirtyScanner(server.documents, schedule, InstantSource.system(), Duration.ofHours(10));
            assertThat(scanner.archiveAll(0)).isFalse();
            CompletableFuture<Boolean> archived = CompletableFuture.supplyAsync(() -> archiveAll(scanner));
            schedule.close(true);
            assertThat(archived.get(20, TimeUnit.SECONDS)).isFalse();
        }
    }

    @Test
    void archiveAllScansOtherSlotsIfFirstFails() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            server.push("a", "value");
            assertThat(server.documents.stripe(0)).isEmpty();
            AtomicBoolean failed = new AtomicBoolean();
            InstantSource clock = () -> {
                if (failed.compareAndSet(false, true)) {
                    throw new IllegalStateException("the slot cannot be scanned");
                }
                return Instant.now();
            };
            DirtyScanner scanner = new DirtyScanner(server.documents, schedule, clock, Duration.ofHours(10));
            schedule.open();
            Thread worker = new Thread(this::work);
            worker.start();
            try {
                assertThatThrownBy(() -> archiveAll(scanner)).hasMessage("the slot cannot be scanned");
            } finally {
                schedule.close(true);
                worker.join();
            }
            assertThat(taken).containsExactly(DocumentName.of("a"));
        }
    }

    @Test
    void failedScanWaitsForNextRound() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            AtomicBoolean fails = new AtomicBoolean();
            InstantSource clock = () -> {
                if (fails.get()) {
                    throw new IllegalStateException("the slot cannot be scanned");
                }
                return Instant.now();
            };
            DirtyScanner scanner = new DirtyScanner(server.documents, schedule, clock, Duration.ofHours(10));
            // The last of these steps begins the second round.
            for (int step = 0; step <= ArchiveSchedule.SLOTS; step++) {
                scanner.step();
            }
            schedule.distrust();
            fails.set(true);
            for (int stripe = 0; stripe < DocumentService.STRIPES; stripe++) {
                assertThatThrownBy(scanner::step).hasMessage("the slot cannot be scanned");
            }
            schedule.wake();
            scanner.step();
            assertThat(schedule.awaitIdle(0)).isTrue();
            assertThat(schedule.verified()).isFalse();
            fails.set(false);
            assertThat(scanner.archiveAll(TimeUnit.HOURS.toNanos(1))).isTrue();
            assertThat(schedule.verified()).isTrue();
        }
    }

    private static boolean archiveAll(DirtyScanner scanner) {
        try {
            return scanner.archiveAll(TimeUnit.HOURS.toNanos(1));
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    @Test
    void verifiesStripesBeyondScheduleCapacity() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            schedule.distrust();
            scanUntil(server, "all documents were verified", schedule::verified);
        }
    }

    /** The documents stay changed, so each scan of a stripe with two documents lacks space. */
    @Test
    void rescansStripesWithoutSpaceInTurn() throws Exception {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            scanUntil(
                    server,
                    "a document of each stripe was taken",
                    () -> IntStream.range(0, DocumentService.STRIPES)
                            .mapToObj(server.documents::stripe)
                            .filter(found -> !found.isEmpty())
                            .allMatch(found -> found.stream().anyMatch(document -> taken.contains(document.name()))));
        }
    }
}
