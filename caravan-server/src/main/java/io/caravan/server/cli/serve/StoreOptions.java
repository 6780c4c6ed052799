package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.Durability;
import io.caravan.FlushPolicy;
import io.caravan.StoreConfig;
import io.caravan.StoreGroups;
import io.caravan.server.config.Quantities;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The store. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class StoreOptions {
    /** The catalog's own entries must always fit. */
    private static final long MIN_VALUE_BYTES = 64 * 1024;

    @Option(names = "--data", paramLabel = "DIR", defaultValue = "data", description = "The store's directory.")
    private Path data;

    @Option(
            names = "--groups",
            paramLabel = "N",
            defaultValue = "1",
            description = "Groups that the documents are divided into, from 1 to 16, each with a log of its own: more"
                    + " than one for a disk that forces several files at the same time. Settled when the directory is"
                    + " made.")
    private int groups;

    @Option(
            names = "--durability",
            paramLabel = "LEVEL",
            defaultValue = "sync",
            description = "Where a change is when it is answered: sync (forced to the disk), process"
                    + " (handed to the operating system), none (in memory).")
    private Durability durability;

    @Option(
            names = "--flush-policy",
            paramLabel = "POLICY",
            converter = Quantities.Policy.class,
            defaultValue = "immediate",
            description =
                    "How long changes gather before they are forced together: immediate, adaptive, or a delay such"
                            + " as 2ms.")
    private FlushPolicy flushPolicy;

    @Option(
            names = "--max-value",
            paramLabel = "SIZE",
            defaultValue = "3MiB",
            converter = Quantities.Bytes.class,
            description = "Greatest length of one value, from 64KiB to just under 32MiB.")
    private long maxValueBytes;

    @Option(
            names = "--checkpoint-floor",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = Quantities.Bytes.class,
            description =
                    "Least log between two checkpoints: less shortens the log and the start after a crash, more makes"
                            + " checkpoints rarer.")
    private long checkpointFloorBytes;

    @Option(
            names = "--backup-dir",
            paramLabel = "DIR",
            description =
                    "A directory that exists, for backups of the open store, which 'caravan backup' makes. Without"
                            + " it, the server makes none.")
    private @Nullable Path backupDirectory;

    /**
     * Where backups go, or null when none are made.
     *
     * @throws IllegalArgumentException when it does not exist: a disk that is not mounted must not fill another one
     */
    @Nullable
    Path backupDirectory() {
        check(
                backupDirectory == null || Files.isDirectory(backupDirectory),
                "--backup-dir '" + backupDirectory + "' is not a directory: create it, or mount its disk");
        return backupDirectory;
    }

    /**
     * The store's settings.
     *
     * @throws IllegalArgumentException when they do not hold together
     */
    StoreConfig config() {
        return config(data, durability);
    }

    /**
     * How many groups the store has.
     *
     * @throws IllegalArgumentException when it cannot have so many
     */
    int groups() {
        check(
                groups >= 1 && groups <= StoreGroups.MAX_GROUPS,
                "--groups must be from 1 to " + StoreGroups.MAX_GROUPS + ", was " + groups);
        return groups;
    }

    /**
     * The settings of a replica, which is in a folder of the data directory: its group makes changes durable.
     *
     * @throws IllegalArgumentException when they do not hold together
     */
    StoreConfig replica() {
        check(
                durability == Durability.SYNC,
                "--durability must be sync in a cluster: an answered change is on the disks of the majority");
        check(groups() == 1, "--groups must be 1 in a cluster: only a server alone has several groups");
        return config(data.resolve("store"), Durability.PROCESS);
    }

    Path data() {
        return data;
    }

    /** Where a change is when it is answered. */
    Durability durability() {
        return durability;
    }

    private StoreConfig config(Path directory, Durability level) {
        check(
                maxValueBytes >= MIN_VALUE_BYTES && maxValueBytes <= StoreConfig.MAX_VALUE_BYTES,
                "--max-value must be from 64KiB to just under 32MiB");
        return StoreConfig.builder(directory)
                .durability(level)
                .flushPolicy(flushPolicy)
                .maxValueBytes((int) maxValueBytes)
                .checkpointFloorBytes(checkpointFloorBytes)
                .build();
    }
}
