package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Verification;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.restore.DocumentRestorer.Source;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.ScanPage;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a drill periodically, on one thread of the lowest priority. The scratch store is a hidden directory next
 * to the data directory. A scratch store of an earlier process is removed first.
 */
public final class Drills implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Drills.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Supplier<Archive> archive;
    private final DocumentService live;
    private final Path scratch;
    private final RestoreConfig config;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            new DefaultThreadFactory("caravan-drill", true, Thread.MIN_PRIORITY));
    private volatile @Nullable DrillReport last;
    private volatile long failures;

    Drills(Supplier<Archive> archive, DocumentService documents, RestoreConfig config, InstantSource clock) {
        this.archive = archive;
        this.live = documents;
        Path data = config.data().toAbsolutePath().normalize();
        this.scratch = data.resolveSibling("." + data.getFileName() + ".drill");
        this.config = config;
        this.clock = clock;
    }

    /**
     * Runs the first drill after a random part of the interval, and each further drill one interval after the previous
     * drill.
     */
    public void start(Duration interval) {
        long first = random.nextLong(Math.max(1, interval.toMillis()));
        thread.scheduleWithFixedDelay(this::tryRun, first, interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns the report of the last drill, or null when there was none. */
    public @Nullable DrillReport last() {
        return last;
    }

    public long failures() {
        return failures;
    }

    /** Runs a drill and catches exceptions and errors, because the executor does not repeat a task that throws. */
    private void tryRun() {
        try {
            run();
        } catch (CaravanException | UncheckedIOException problem) {
            if (!thread.isShutdown()) {
                record(new DrillReport(0, 0, List.of(String.valueOf(problem.getMessage())), clock.millis()));
            }
        } catch (RuntimeException | Error bug) {
            failures++;
            LOG.error("a drill has failed because of an error in the server", bug);
        }
    }

    DrillReport run() {
        remove();
        try {
            // Segments of the default sizes would be 96 MiB of zeros for a sample of perhaps a few documents.
            int longest = (config.maxValueBytes() / StoreConfig.BLOCK_BYTES + 2) * StoreConfig.BLOCK_BYTES;
            StoreConfig small = StoreConfig.builder(scratch)
                    .durability(Durability.MEMORY)
                    .maxValueBytes(config.maxValueBytes())
                    .logBufferBytes(longest)
                    .logSegmentBytes(2 * longest)
                    .build();
            DrillReport report;
            try (ListStore store = DurableListStore.open(small);
                    DocumentService restored = DocumentService.offline(store)) {
                report = new Drill(archive.get(), restored).run();
            }
            if (!thread.isShutdown()) {
                record(report);
            }
            return report;
        } finally {
            remove();
        }
    }

    private void record(DrillReport report) {
        last = report;
        failures += report.failures().size();
        report.failures().forEach(failure -> LOG.error("a drill has failed: {}", failure));
        LOG.info(
                "a drill has restored {} documents with {} values from the archive, {} failures",
                report.documents(),
                report.values(),
                report.failures().size());
    }

    private void remove() {
        if (!Files.exists(scratch)) {
            return;
        }
        try (Stream<Path> all = Files.walk(scratch)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot remove the scratch directory of drills: " + problem, problem);
        }
    }

    /** Ends a running drill, and waits for it. */
    @Override
    public void close() {
        thread.shutdownNow();
        try {
            if (!thread.awaitTermination(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                LOG.warn("a drill did not end in {}", TIMEOUT);
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A {@link Verification} that restores a random sample of the archive's documents to a scratch store, to prove that
     * a restore works. Each document is read back and compared with its manifest, and with the live document where
     * their sequences overlap. The drill also checks that the archive contains the documents in an equally large sample
     * of live documents. It costs the server no more than one reader, and ends soon after the thread is interrupted.
     */
    private final class Drill {
        private final Archive opened;
        private final DocumentService restored;
        private final List<String> faults = new ArrayList<>();
        private long documents;
        private long values;

        Drill(Archive opened, DocumentService restored) {
            this.opened = opened;
            this.restored = restored;
        }

        DrillReport run() {
            Verification.sample(opened, config.drillSample(), random, this::check, faults::add);
            requireArchived();
            return new DrillReport(documents, values, faults, clock.millis());
        }

        /**
         * Checks that the archive contains a sample of the live documents that are marked as archived, because the
         * configured archive may be empty, the wrong one, or an older copy.
         */
        private void requireArchived() {
            int first = random.nextInt(DocumentService.STRIPES);
            int left = config.drillSample();
            for (int i = 0; i < DocumentService.STRIPES && left > 0; i++) {
                for (ScanPage.Found found : live.stripe((first + i) % DocumentService.STRIPES)) {
                    ArchiveMark mark = found.info().attributes().archived();
                    if (mark != null
                            && mark.generation() > 0
                            && left-- > 0
                            && !Thread.currentThread().isInterrupted()) {
                        requireArchived(found, mark);
                    }
                }
            }
        }

        private void requireArchived(ScanPage.Found found, ArchiveMark mark) {
            try {
                KeptManifest kept = opened.manifest(found.name());
                DocumentInfo still = live.peek(found.name());
                boolean same = still != null && still.id() == found.info().id();
                if (same && (kept == null || !hasReached(kept.manifest(), mark))) {
                    faults.add("document '" + found.name() + "' was archived, and the archive does not have it");
                }
            } catch (CaravanException problem) {
                if (!Thread.currentThread().isInterrupted()) {
                    faults.add(String.valueOf(problem.getMessage()));
                }
            }
        }

        /** Whether the document exists in the archive, in the state of the mark or a later one. */
        private static boolean hasReached(Manifest manifest, ArchiveMark mark) {
            Generation latest = manifest.latest();
            return manifest.tombstone() == null
                    && latest != null
                    && latest.incarnation() == mark.incarnation()
                    && latest.number() >= mark.generation();
        }

        private void check(Manifest manifest, Generation latest) {
            DocumentName name = manifest.name();
            documents++;
            new DocumentRestorer(() -> opened, restored, bytes -> {}).create(Source.of(manifest, latest, false), false);
            values += latest.count();
            String difference = difference(name, latest);
            Outcome.<Boolean>await(outcome -> restored.write(name, EditedDocument::delete, outcome));
            if (difference != null) {
                throw new ArchiveException(
                        Reason.DIVERGED, "document '" + name + "', restored from " + latest.key() + ", " + difference);
            }
        }

        /** Returns how the restored document differs from its generation or the live document; null if it does not. */
        private @Nullable String difference(DocumentName name, Generation generation) {
            DocumentInfo now = live.peek(name);
            long from = Math.max(now == null ? 0 : now.firstSequence(), generation.firstSequence());
            long to = Math.min(now == null ? 0 : now.nextSequence(), generation.nextSequence());
            String shared = from < to ? liveHash(name, generation, from, to) : null;
            SequenceHash copy = new SequenceHash(from, to, info -> true);
            DocumentInfo info = restored.peek(name);
            if (info == null || !restored.snapshot(name, copy)) {
                return "does not exist";
            }
            if (info.firstSequence() != generation.firstSequence()
                    || info.nextSequence() != generation.nextSequence()
                    || copy.count() != generation.count()
                    || copy.bytes() != generation.valueBytes()) {
                return "has the sequences " + info.firstSequence() + " to " + info.nextSequence() + " and "
                        + copy.bytes()
                        + " bytes; its manifest says " + generation.firstSequence() + " to " + generation.nextSequence()
                        + " and " + generation.valueBytes();
            }
            return shared == null || shared.equals(copy.finish())
                    ? null
                    : "has other values than the live document between the sequences " + from + " and " + to;
        }

        /**
         * Hashes values of the live document, if it belongs to the generation's incarnation and has all of these
         * values. Returns null otherwise.
         */
        private @Nullable String liveHash(DocumentName name, Generation generation, long from, long to) {
            SequenceHash hash = new SequenceHash(from, to, info -> {
                ArchiveMark mark = info.attributes().archived();
                return mark != null && mark.incarnation() == generation.incarnation() && info.firstSequence() <= from;
            });
            try {
                return live.snapshot(name, hash) && hash.count() > 0 ? hash.finish() : null;
            } catch (DocumentException changing) {
                // The live values are being removed, so there is nothing to compare.
                return null;
            }
        }
    }

    /**
     * The result of a drill.
     *
     * @param documents documents that were restored and compared
     * @param values values that were restored and compared
     * @param failures the faults, one sentence each, with document and object
     * @param finishedMillis when the drill ended, in milliseconds since 1970
     */
    public record DrillReport(long documents, long values, List<String> failures, long finishedMillis) {
        public DrillReport {
            failures = List.copyOf(failures);
        }
    }
}
