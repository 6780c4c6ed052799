package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.StoreConfig;
import io.caravan.server.archive.Lease;
import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.ObjectStores.Place;
import io.caravan.server.archive.object.S3Options;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.restore.ServerRestores.RestoreConfig;
import io.caravan.server.cli.common.S3Settings;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.Quantities;
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
            description =
                    "Where documents that have changed are copied to: file:DIR, s3://BUCKET/PREFIX, auto, which is"
                            + " the folder of the data with '-archive' behind its name and in a cluster none, or none. Credentials come from where the AWS SDK"
                            + " looks for them: environment, profile, instance.")
    private String archive;

    @Mixin
    private S3Settings s3;

    @Option(
            names = "--archive-after",
            paramLabel = "TIME",
            defaultValue = "30m",
            converter = Quantities.Time.class,
            description = "Greatest age of a change that is not archived, 1s or more.")
    private Duration after;

    @Option(
            names = "--archive-concurrency",
            paramLabel = "COUNT",
            defaultValue = "8",
            description = "Documents that are archived at a time, from 1 to 256.")
    private int concurrency;

    @Option(
            names = "--archive-bandwidth",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = Quantities.Bytes.class,
            description = "What is written to the archive in a second at most, 0 for no bound.")
    private long bytesPerSecond;

    @Option(
            names = "--archive-on-stop",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Archive what has changed before the server stops, as far as --stop-timeout allows.")
    private boolean onStop;

    @Option(
            names = "--archive-hydrate",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Fetch a document that the store lacks from the archive when it is first asked for. A store"
                    + " with nothing in it takes the archive over.")
    private boolean hydrate;

    @Option(
            names = "--archive-takeover",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description =
                    "Take the archive over although another copy of this store has done so since, or begin it anew"
                            + " where it was lost. For one start.")
    private boolean takeover;

    @Option(
            names = "--archive-prune",
            paramLabel = "TIME",
            defaultValue = "6h",
            converter = Quantities.TimeOrOff.class,
            description =
                    "Time between two rounds that remove old generations, deleted documents and leftovers from the"
                            + " archive, 1s or more, or off to remove nothing.")
    private Duration pruneEvery;

    @Option(
            names = "--archive-keep",
            paramLabel = "COUNT",
            defaultValue = PrunePolicy.DEFAULT_GENERATIONS,
            description = "How many of a document's newest generations stay, whatever their age, 1 or more.")
    private int keep;

    @Option(
            names = "--archive-keep-days",
            paramLabel = "DAYS",
            defaultValue = PrunePolicy.DEFAULT_AGE_DAYS,
            description = "Generations that are not older stay too; 0 for none.")
    private int keepDays;

    @Option(
            names = "--archive-keep-daily",
            paramLabel = "DAYS",
            defaultValue = PrunePolicy.DEFAULT_DAYS,
            description = "For so many days, the newest generation of each day stays too; 0 for none.")
    private int keepDaily;

    @Option(
            names = "--archive-retain",
            paramLabel = "DAYS",
            defaultValue = PrunePolicy.DEFAULT_RETAIN_DAYS,
            description = "How long deleted documents can still be restored, 1 or more.")
    private int retainDays;

    @Option(
            names = "--drill",
            paramLabel = "TIME",
            defaultValue = "off",
            converter = Quantities.TimeOrOff.class,
            description = "Time between two drills, which restore a sample of the archive to a store of their own and"
                    + " compare, 1s or more, or off.")
    private Duration drillEvery;

    @Option(
            names = "--drill-sample",
            paramLabel = "COUNT",
            defaultValue = "100",
            description = "Documents that a drill restores, from 1 to 1000000.")
    private int drillSample;

    /**
     * Returns the settings of automatic restores: hydration and drills.
     *
     * @throws IllegalArgumentException if the settings contradict each other
     */
    RestoreConfig restore(StoreConfig store) {
        boolean drills = !drillEvery.isZero();
        check(!drills || drillEvery.compareTo(SHORTEST) >= 0, "--drill must be 1s or more, or off");
        check(
                drillSample >= 1 && drillSample <= MAX_DRILL_SAMPLE,
                "--drill-sample must be from 1 to " + MAX_DRILL_SAMPLE);
        check(
                !archive.equals(NONE) || !drills && !hydrate,
                "--archive-hydrate and --drill need an archive: they do not go with --archive none");
        return new RestoreConfig(hydrate, drillEvery, drillSample, store.directory(), store.maxValueBytes());
    }

    /**
     * Returns the archive settings, or null if nothing is archived.
     *
     * @param data the store's directory
     * @param cluster the server's cluster, or null for a single server. In a cluster there is no default archive,
     *     because a directory on one node cannot serve the others, and each Raft group has its own archive
     * @throws IllegalArgumentException if the settings contradict each other
     */
    @Nullable
    ArchiveConfig config(Path data, @Nullable Cluster cluster) {
        check(after.compareTo(SHORTEST) >= 0, "--archive-after must be 1s or more");
        check(
                concurrency >= 1 && concurrency <= MAX_CONCURRENCY,
                "--archive-concurrency must be from 1 to " + MAX_CONCURRENCY);
        if (archive.equals(NONE) || archive.equals(AUTO) && cluster != null) {
            return null;
        }
        String url = archive.equals(AUTO) ? FILE + data.toAbsolutePath().normalize() + AUTO_SUFFIX : ofGroup(cluster);
        Place place = place(url);
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

    /** Returns the archive URL of this node's Raft group: that of the whole archive if there is only one group. */
    private String ofGroup(@Nullable Cluster cluster) {
        return cluster == null || cluster.groups().size() == 1
                ? archive
                : archive.replaceFirst("/\\z", "") + "/slots-" + cluster.group().slots();
    }

    private ArchiveConfig.@Nullable Pruning pruning() {
        boolean prunes = !pruneEvery.isZero();
        check(!prunes || pruneEvery.compareTo(SHORTEST) >= 0, "--archive-prune must be 1s or more, or off");
        check(keep >= 1, "--archive-keep must be 1 or more: the latest generation always stays");
        check(keepDays >= 0, "--archive-keep-days must be 0 or more");
        check(keepDaily >= 0, "--archive-keep-daily must be 0 or more");
        check(retainDays >= 1, "--archive-retain must be 1 or more");
        PrunePolicy policy = new PrunePolicy(keep, Duration.ofDays(keepDays), keepDaily, Duration.ofDays(retainDays));
        return prunes ? new ArchiveConfig.Pruning(policy, pruneEvery) : null;
    }

    private static Place place(String url) {
        try {
            return ObjectStores.place(url);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("--archive: " + wrong.getMessage(), wrong);
        }
    }
}
