package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.StoreConfig;
import io.caravan.server.archive.Lease;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.ObjectStores.Place;
import io.caravan.server.archive.object.S3Options;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.cli.archive.ArchivePlace.S3Settings;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.Quantities;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for the archive's location, rate, retention, and restores. */
final class ArchiveOptions {
    private static final String AUTO = "auto";
    private static final String NONE = "none";
    private static final String FILE = "file:";
    private static final String AUTO_SUFFIX = "-archive";
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final int MAX_CONCURRENCY = 256;
    private static final int MAX_DRILL_SAMPLE = 1_000_000;

    @Option(
            names = "--archive",
            paramLabel = "URL",
            defaultValue = AUTO,
            description = "Location of the archive: file:DIR, s3://BUCKET/PREFIX, auto, or none. auto is the"
                    + " directory whose name is that of --data with -archive appended; in a cluster, it is none. The"
                    + " AWS SDK finds credentials in the environment, its files, or the role of the machine.")
    private String archive;

    @Mixin
    private S3Settings s3;

    @Option(
            names = "--archive-after",
            paramLabel = "TIME",
            defaultValue = "30m",
            converter = Quantities.Time.class,
            description = "Maximum time until a write is archived, at least 1s. A space may have a different value.")
    private Duration after;

    @Option(
            names = "--archive-concurrency",
            paramLabel = "COUNT",
            defaultValue = "8",
            description = "Number of documents that are archived concurrently, from 1 to 256.")
    private int concurrency;

    @Option(
            names = "--archive-bandwidth",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = Quantities.Bytes.class,
            description = "Maximum bytes written to the archive per second; 0 for no limit.")
    private long bytesPerSecond;

    @Option(
            names = "--archive-on-stop",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Archive changed documents before the server stops, as far as --stop-timeout allows.")
    private boolean onStop;

    @Option(
            names = "--archive-hydrate",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "When a client requests a document that the store lacks, fetch the document from the"
                    + " archive. A server with an empty store takes ownership of the archive.")
    private boolean hydrate;

    @Option(
            names = "--archive-takeover",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Take ownership of the archive even if another copy of this store owns it now, or recreate"
                    + " the archive if it was lost. For one start only.")
    private boolean takeover;

    @Option(
            names = "--archive-prune",
            paramLabel = "TIME",
            defaultValue = "6h",
            converter = Quantities.PeriodOrOff.class,
            description = "Time between two rounds that prune the archive, at least 1s, or off.")
    private Duration pruneEvery;

    @Option(
            names = "--archive-keep",
            paramLabel = "COUNT",
            defaultValue = PrunePolicy.DEFAULT_GENERATIONS,
            description = "Number of newest generations of a document to keep, at least 1. A space may have a"
                    + " different value for this setting and the next two.")
    private int keep;

    @Option(
            names = "--archive-keep-days",
            paramLabel = "DAYS",
            defaultValue = PrunePolicy.DEFAULT_AGE_DAYS,
            description = "Maximum age in days of the generations that are also kept; 0 for none.")
    private int keepDays;

    @Option(
            names = "--archive-keep-daily",
            paramLabel = "DAYS",
            defaultValue = PrunePolicy.DEFAULT_DAYS,
            description =
                    "Number of days for which the newest generation of each day (UTC) is also kept; 0 for" + " none.")
    private int keepDaily;

    @Option(
            names = "--archive-retain",
            paramLabel = "DAYS",
            defaultValue = PrunePolicy.DEFAULT_RETAIN_DAYS,
            description = "Number of days for which deleted documents can be restored, at least 1.")
    private int retainDays;

    @Option(
            names = "--drill",
            paramLabel = "TIME",
            defaultValue = "off",
            converter = Quantities.PeriodOrOff.class,
            description = "Time between two drills, at least 1s, or off. A drill restores a sample of the archive to"
                    + " a scratch store and compares it with the documents.")
    private Duration drillEvery;

    @Option(
            names = "--drill-sample",
            paramLabel = "COUNT",
            defaultValue = "100",
            description = "Number of documents that a drill restores, from 1 to 1000000.")
    private int drillSample;

    RestoreConfig restore(StoreConfig store) {
        check(
                drillSample >= 1 && drillSample <= MAX_DRILL_SAMPLE,
                "--drill-sample must be from 1 to " + MAX_DRILL_SAMPLE);
        check(
                !archive.equals(NONE) || drillEvery.isZero() && !hydrate,
                "--archive-hydrate and --drill need an archive: they do not go with --archive none");
        return new RestoreConfig(hydrate, drillEvery, drillSample, store.directory(), store.maxValueBytes());
    }

    /**
     * Returns the archive settings, or null. In a cluster, there is no default archive, because a directory on one node
     * cannot serve the others, and each Raft group has its own.
     */
    @Nullable
    ArchiveConfig config(Path data, @Nullable Cluster cluster) throws IOException {
        check(after.compareTo(SHORTEST) >= 0, "--archive-after must be 1s or more");
        check(
                concurrency >= 1 && concurrency <= MAX_CONCURRENCY,
                "--archive-concurrency must be from 1 to " + MAX_CONCURRENCY);
        if (archive.equals(NONE) || archive.equals(AUTO) && cluster != null) {
            return null;
        }
        String url = archive.equals(AUTO) ? FILE + data.toAbsolutePath().normalize() + AUTO_SUFFIX : ofGroup(cluster);
        Place place = place(url);
        if (url.startsWith(FILE)) {
            Path directory = Path.of(ObjectStores.canonical(url).substring(FILE.length()));
            StoreOptions.requireOutside(data, "--archive", directory);
        }
        S3Options options = s3.options();
        return new ArchiveConfig(
                url,
                () -> place.open(options),
                place.atHand(),
                hydrate,
                takeover,
                after,
                concurrency,
                bytesPerSecond,
                onStop,
                pruning(),
                Lease.Clock.SYSTEM);
    }

    /** Returns the archive URL of this node's Raft group: the URL of the entire archive if there is only one group. */
    private String ofGroup(@Nullable Cluster cluster) {
        return cluster == null || cluster.groups().size() == 1
                ? archive
                : archive.replaceFirst("/\\z", "") + "/slots-" + cluster.group().slots();
    }

    private ArchiveConfig.@Nullable Pruning pruning() {
        check(keep >= 1, "--archive-keep must be 1 or more: the latest generation always stays");
        check(keepDays >= 0, "--archive-keep-days must be 0 or more");
        check(keepDaily >= 0, "--archive-keep-daily must be 0 or more");
        check(retainDays >= 1, "--archive-retain must be 1 or more");
        PrunePolicy policy = new PrunePolicy(keep, Duration.ofDays(keepDays), keepDaily, Duration.ofDays(retainDays));
        return pruneEvery.isZero() ? null : new ArchiveConfig.Pruning(policy, pruneEvery);
    }

    private static Place place(String url) {
        try {
            return ObjectStores.place(url);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("--archive: " + wrong.getMessage(), wrong);
        }
    }
}
