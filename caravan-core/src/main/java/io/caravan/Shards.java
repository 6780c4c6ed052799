package io.caravan;

import io.caravan.engine.DedicatedThread;
import io.caravan.format.FileNames;
import io.caravan.io.NewDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The stores of a data directory: one store, or several {@linkplain ShardedStore shards}, each in its own directory.
 * The number of shards is fixed when the data directory is created.
 */
public final class Shards implements AutoCloseable {
    /** The maximum number of shards of a data directory. */
    public static final int MAX_GROUPS = 16;

    private final @Nullable ShardDirectory folder;
    private final List<DurableListStore> stores;
    private final ListStore store;

    private Shards(@Nullable ShardDirectory folder, List<DurableListStore> stores) {
        this.folder = folder;
        this.stores = stores;
        this.store = folder == null ? stores.get(0) : new ShardedStore(stores);
    }

    /**
     * Opens the stores in the config's directory, or creates them if it is empty.
     *
     * @param config the settings of every shard; their directory is the data directory
     * @param groups number of shards, from 1 to {@value #MAX_GROUPS}
     * @throws StoreDirectoryException if the directory was created with another number of shards, lacks a shard, or
     *     contains other files; nothing was changed
     * @see DurableListStore#open(StoreConfig) the other errors
     */
    public static Shards open(StoreConfig config, int groups) {
        Arguments.between(groups, 1, MAX_GROUPS, "groups");
        Path directory = config.directory();
        if (groups == 1) {
            int found = count(directory);
            if (found != 1) {
                throw ShardDirectory.otherNumber(directory, found, 1);
            }
            return new Shards(null, List.of(DurableListStore.open(config)));
        }
        return DedicatedThread.call(
                "open " + directory, () -> open(ShardDirectory.open(directory, groups), config, groups));
    }

    private static Shards open(ShardDirectory folder, StoreConfig config, int groups) throws IOException {
        List<DurableListStore> opened = new ArrayList<>(groups);
        boolean whole = false;
        try {
            for (int group = 0; group < groups; group++) {
                opened.add(DurableListStore.open(config.withDirectory(folder.folder(group))));
            }
            if (!folder.isMade()) {
                requireEmpty(config.directory(), opened);
                folder.made();
            }
            whole = true;
            return new Shards(folder, List.copyOf(opened));
        } finally {
            if (!whole) {
                closeAll(opened, folder);
            }
        }
    }

    /**
     * Checks that the shards are empty. The file with the number of shards is missing either because the creation of
     * the shards was interrupted before the first write, or because the file was removed.
     */
    private static void requireEmpty(Path directory, List<DurableListStore> stores) {
        if (stores.stream().anyMatch(store -> store.stats().lists() > 0)) {
            throw new StoreDirectoryException(directory + " has groups with documents, but its file " + FileNames.GROUPS
                    + " is missing: put it back, or restore the whole directory from a backup");
        }
    }

    private static int count(Path directory) {
        return DedicatedThread.call("look at " + directory, () -> ShardDirectory.count(directory));
    }

    /**
     * Returns the directories of the stores in a data directory, open or not: the data directory itself, or one for
     * each shard.
     *
     * @throws CorruptStoreException if the file with the number of shards is damaged
     */
    public static List<Path> folders(Path directory) {
        int groups = count(directory);
        return groups == 1
                ? List.of(directory)
                : IntStream.range(0, groups)
                        .mapToObj(group -> directory.resolve(FileNames.group(group)))
                        .toList();
    }

    /**
     * Returns all shards as one store. Closing it does not release the lock of a data directory with several shards;
     * {@link #close()} does.
     */
    public ListStore store() {
        return store;
    }

    /**
     * Backs up the open store, one shard after another, as {@link DurableListStore#backup} does. Each shard's copy is
     * consistent, but the copies are not from the same moment.
     *
     * @return the report; for several shards, each number is the sum over the shards
     */
    public BackupReport backup(Path target, BackupReport.Progress progress) {
        if (folder == null) {
            return stores.get(0).backup(target, progress);
        }
        return DedicatedThread.call("back up to " + target, () -> {
            try (NewDirectory copy = NewDirectory.begin(target, Shards::isOfCopy)) {
                BackupReport report = copyAll(copy, progress);
                ShardDirectory.write(copy.storage(), stores.size());
                copy.publish();
                return report;
            }
        });
    }

    private BackupReport copyAll(NewDirectory copy, BackupReport.Progress progress) {
        BackupReport all = new BackupReport(0, 0, 0, 0);
        for (int group = 0; group < stores.size(); group++) {
            long before = all.bytes();
            BackupReport part = stores.get(group)
                    .backup(
                            copy.path().resolve(FileNames.group(group)),
                            (done, total) -> progress.at(before + done, before + total));
            all = new BackupReport(
                    all.lsn() + part.lsn(),
                    all.checkpoint() + part.checkpoint(),
                    all.files() + part.files(),
                    all.bytes() + part.bytes());
        }
        return all;
    }

    /** Whether this path in the copy may be left over from an interrupted backup. */
    private static boolean isOfCopy(String path) {
        int slash = path.indexOf('/');
        String first = slash < 0 ? path : path.substring(0, slash);
        boolean group = IntStream.range(0, MAX_GROUPS)
                .mapToObj(FileNames::group)
                .anyMatch(name -> first.equals(name) || first.equals(name + NewDirectory.ENDING));
        return slash < 0
                ? group || first.startsWith(FileNames.GROUPS)
                : group && FileNames.isOurs(path.substring(slash + 1));
    }

    /** Closes all stores and releases the directory. Idempotent. */
    @Override
    public void close() {
        closeAll(stores, folder);
    }

    private static void closeAll(List<DurableListStore> stores, @Nullable ShardDirectory folder) {
        try {
            if (!stores.isEmpty()) {
                new ShardedStore(stores).close();
            }
        } finally {
            if (folder != null) {
                DedicatedThread.call("let go of the directory", () -> {
                    folder.close();
                    return folder;
                });
            }
        }
    }
}
