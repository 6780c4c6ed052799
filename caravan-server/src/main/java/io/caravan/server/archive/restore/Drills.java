package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.restore.ServerRestores.RestoreConfig;
import io.caravan.server.document.DocumentService;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
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
 * Runs a {@link Drill} periodically, on one thread of the lowest priority. The scratch store is a hidden directory next
 * to the data directory. A scratch store of an earlier process is removed first.
 */
public final class Drills implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Drills.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Supplier<Archive> archive;
    private final DocumentService documents;
    private final Path scratch;
    private final int maxValueBytes;
    private final int sample;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            new DefaultThreadFactory("caravan-drill", true, Thread.MIN_PRIORITY));
    private volatile @Nullable DrillReport last;
    private volatile long failures;

    /** @param archive returns the archive; throws an exception with the reason when it is not available */
    Drills(Supplier<Archive> archive, DocumentService documents, RestoreConfig config, InstantSource clock) {
        this.archive = archive;
        this.documents = documents;
        Path data = config.data().toAbsolutePath().normalize();
        this.scratch = data.resolveSibling("." + data.getFileName() + ".drill");
        this.maxValueBytes = config.maxValueBytes();
        this.sample = config.drillSample();
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

    /** Returns the total number of failures that drills have found. */
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

    /** Runs one drill, on the calling thread. */
    DrillReport run() {
        remove();
        try {
            DrillReport report;
            // Segments of the default sizes would be 96 MiB of zeros for a sample of perhaps a few documents.
            int longest = (maxValueBytes / StoreConfig.BLOCK_BYTES + 2) * StoreConfig.BLOCK_BYTES;
            StoreConfig config = StoreConfig.builder(scratch)
                    .durability(Durability.MEMORY)
                    .maxValueBytes(maxValueBytes)
                    .logBufferBytes(longest)
                    .logSegmentBytes(2 * longest)
                    .build();
            try (ListStore store = DurableListStore.open(config)) {
                report = new Drill(archive.get(), documents, random).run(store, sample, clock);
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
