package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.Pruning;
import io.caravan.server.archive.Pruning.Policies;
import io.caravan.server.archive.Pruning.PruneListener;
import io.caravan.server.archive.Pruning.PruneReport;
import io.caravan.server.archive.Pruning.Removal;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.document.space.Spaces;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prunes the server's archive at intervals in the same way as {@code caravan archive prune}, one document at a time on
 * one thread. Most rounds only list objects and read the manifests of documents that have more
 * snapshots than their policy keeps. Once a day, a round reads every manifest to find generations that are too old.
 *
 * <p>A round that fails leaves the archive consistent, and the next one continues. No other work waits for a round.
 */
final class Pruner {
    private static final Logger LOG = LoggerFactory.getLogger(Pruner.class);
    /** Maximum delay before the first round, so that even frequently restarted servers prune their archives. */
    private static final Duration LONGEST_FIRST = Duration.ofMinutes(10);

    private static final Duration THOROUGH_EVERY = Duration.ofDays(1);

    private static final PruneListener LISTENER = new PruneListener() {
        @Override
        public void removed(Removal removal) {
            LOG.debug("removed {}", removal);
        }

        @Override
        public void problem(String message) {
            LOG.warn("a document was not pruned: {}", message);
        }
    };

    private final Supplier<@Nullable Archive> archive;
    private final Policies policies;
    private final Duration every;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final long startMillis;
    private final long startNanos;
    private final ArchiveCounters outcomes;
    private Duration delay;
    /** The time of the next round that reads every manifest. */
    private long thoroughNanos;

    /** Creates a pruner; {@code archive} returns the archive while this server owns it, otherwise null. */
    Pruner(
            Supplier<@Nullable Archive> archive,
            Policies policies,
            Duration every,
            InstantSource clock,
            LongSupplier nanoTime,
            ArchiveCounters outcomes) {
        this.archive = archive;
        this.policies = policies;
        this.every = every;
        this.delay = Collections.min(List.of(every, LONGEST_FIRST));
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.startMillis = clock.millis();
        this.startNanos = nanoTime.getAsLong();
        this.thoroughNanos = startNanos;
        this.outcomes = outcomes;
    }

    /** Returns the policies of a server. Each setting of a document's space overrides the general policy. */
    static Policies policies(Spaces spaces, PrunePolicy general) {
        return name -> {
            Space space = name == null ? null : spaces.find(name);
            return space == null ? general : policy(space.settings(), general);
        };
    }

    private static PrunePolicy policy(SpaceSettings space, PrunePolicy general) {
        return new PrunePolicy(
                number(space, SpaceSetting.ARCHIVE_KEEP, general.generations()),
                space.has(SpaceSetting.ARCHIVE_KEEP_DAYS)
                        ? Duration.ofDays(space.get(SpaceSetting.ARCHIVE_KEEP_DAYS))
                        : general.age(),
                number(space, SpaceSetting.ARCHIVE_KEEP_DAILY, general.days()),
                general.retain());
    }

    private static int number(SpaceSettings space, SpaceSetting setting, int otherwise) {
        return space.has(setting) ? Math.toIntExact(space.get(setting)) : otherwise;
    }

    /**
     * Waits until the next round is due, and runs it. An interrupt ends a running round; the first round after the next
     * start of the server continues it.
     *
     * @param stopped counts down when the server stops
     */
    void step(CountDownLatch stopped) throws InterruptedException {
        if (stopped.await(delay.toMillis(), TimeUnit.MILLISECONDS)) {
            return;
        }
        delay = every;
        try {
            Archive owned = archive.get();
            if (owned != null) {
                run(owned);
            }
        } catch (CaravanException problem) {
            if (stopped.getCount() > 0) {
                outcomes.failed(Failure.of(problem));
                LOG.warn("the archive was not pruned; the next round retries: {}", problem.getMessage());
            }
        }
    }

    private void run(Archive owned) {
        owned.checkOwner();
        long nanos = nanoTime.getAsLong();
        long now = nowMillis(nanos);
        boolean thorough = nanos - thoroughNanos >= 0;
        Pruning pruning = new Pruning(owned, policies, now, false, LISTENER);
        PruneReport report = thorough ? pruning.run(1) : pruning.thin();
        thoroughNanos = thorough ? nanos + THOROUGH_EVERY.toNanos() : thoroughNanos;
        if (report.bytes() > 0 || report.forgotten() > 0) {
            LOG.info(
                    "pruned the archive: removed {} generations, {} leftovers and {} deleted documents, {} bytes",
                    report.generations(),
                    report.leftovers(),
                    report.forgotten(),
                    report.bytes());
        }
    }

    /**
     * Returns the time relative to which ages are calculated. Ignores any forward adjustment of the clock since the
     * server started: otherwise, the age of all deleted documents would suddenly exceed their limit.
     */
    private long nowMillis(long nanos) {
        long now = clock.millis();
        long unchanged = startMillis + TimeUnit.NANOSECONDS.toMillis(nanos - startNanos);
        Duration ahead = Duration.ofMillis(now - unchanged);
        if (ahead.compareTo(THOROUGH_EVERY) > 0) {
            LOG.warn(
                    "the clock was set ahead by {} since the server started: until it is restarted, it does not count this"
                            + " time when it prunes the archive",
                    ahead);
        }
        return Math.min(now, unchanged);
    }
}
