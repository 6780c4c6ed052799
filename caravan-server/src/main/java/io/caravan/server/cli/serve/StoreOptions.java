package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.Durability;
import io.caravan.FlushPolicy;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import io.caravan.io.FileStorage;
import io.caravan.server.config.Quantities;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

final class StoreOptions {
    /** The lowest value allowed for the maximum value length, so that the catalog's entries always fit. */
    private static final long MIN_VALUE_BYTES = 64 * 1024;

    @Option(names = "--data", paramLabel = "DIR", defaultValue = "data", description = "Directory of the store.")
    private Path data;

    @Option(
            names = "--shards",
            paramLabel = "N",
            defaultValue = "1",
            description = "Number of shards among which the documents are divided, from 1 to 16. Several shards help"
                    + " on a disk that fsyncs several files at the same time. Fixed when the directory is created.")
    private int groups;

    @Option(
            names = "--durability",
            paramLabel = "LEVEL",
            defaultValue = "sync",
            description = "Level that a write reaches before it is acknowledged: sync (on the disk), process (in the"
                    + " operating system), or memory. A space may have a lower level.")
    private Durability durability;

    @Option(
            names = "--flush-policy",
            paramLabel = "POLICY",
            converter = Quantities.Policy.class,
            defaultValue = "immediate",
            description = "How long the server collects writes for one fsync: immediate, adaptive, or a delay such"
                    + " as 2ms.")
    private FlushPolicy flushPolicy;

    @Option(
            names = "--max-value",
            paramLabel = "SIZE",
            defaultValue = "3MiB",
            converter = Quantities.Bytes.class,
            description = "Maximum length of one value, from 64KiB to just under 32MiB.")
    private long maxValueBytes;

    @Option(
            names = "--checkpoint-floor",
            paramLabel = "SIZE",
            defaultValue = "64MiB",
            converter = Quantities.Bytes.class,
            description = "Minimum length of the log between two checkpoints. A lower value makes recovery faster, a"
                    + " higher value makes checkpoints less frequent.")
    private long checkpointFloorBytes;

    @Option(
            names = "--backup-dir",
            paramLabel = "DIR",
            description = "Existing directory for backups of the open store, which 'caravan backup' makes. If not"
                    + " set, the server makes no backups.")
    private @Nullable Path backupDirectory;

    /** Returns the directory for backups, or null. Not created: a backup to an unmounted disk would fill another. */
    @Nullable
    Path backupDirectory() throws IOException {
        if (backupDirectory == null) {
            return null;
        }
        check(
                Files.isDirectory(backupDirectory),
                "--backup-dir '" + backupDirectory + "' is not a directory: create it, or mount its disk");
        requireOutside(data, "--backup-dir", backupDirectory);
        return backupDirectory;
    }

    /** Checks that a directory, which may not exist yet, is not in the data directory: the next start would fail. */
    static void requireOutside(Path data, String option, Path directory) throws IOException {
        check(
                !FileStorage.isInside(directory, data),
                option + " '" + directory + "' is inside --data '" + data
                        + "', which may contain only the store: name another directory");
    }

    StoreConfig config() {
        return config(data, durability);
    }

    int groups() {
        check(
                groups >= 1 && groups <= Shards.MAX_SHARDS,
                "--shards must be from 1 to " + Shards.MAX_SHARDS + ", was " + groups);
        return groups;
    }

    /** Returns the settings of a replica, in a subdirectory. It does not fsync: its Raft group makes writes durable. */
    StoreConfig replica() {
        check(
                durability == Durability.SYNC,
                "--durability must be sync in a cluster: an acknowledged write is on the disks of a majority");
        check(groups() == 1, "--shards must be 1 in a cluster: only a standalone server has several shards");
        return config(data.resolve("store"), Durability.PROCESS);
    }

    Path data() {
        return data;
    }

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
