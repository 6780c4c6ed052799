package io.caravan;

import io.caravan.engine.DedicatedThread;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.NewDirectory;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The stores of a data directory: one store, or several {@linkplain ShardedStore shards}, each in its own directory.
 * The number of shards is fixed when the data directory is created.
 *
 * <p>A data directory with several shards also contains a file with the number of shards. The file is written last: if
 * it exists, all shards were created, and a missing shard has been lost.
 */
public final class Shards implements AutoCloseable {
    /** The maximum number of shards of a data directory. */
    public static final int MAX_SHARDS = 16;

    /** The locked data directory; null if the data directory is the directory of the only store. */
    private final @Nullable FileStorage storage;

    private final List<DurableListStore> stores;
    private final ListStore store;

    private Shards(@Nullable FileStorage storage, List<DurableListStore> stores) {
        this.storage = storage;
        this.stores = stores;
        this.store = storage == null ? stores.get(0) : new ShardedStore(stores);
    }

    /**
     * Opens the stores in the config's directory, or creates them if it is empty.
     *
     * @param config the settings of every shard; their directory is the data directory
     * @param shards number of shards, from 1 to {@value #MAX_SHARDS}
     * @throws StoreDirectoryException if the directory was created with another number of shards, lacks a shard, or
     *     contains other files; nothing was changed
     * @see DurableListStore#open(StoreConfig) the other errors
     */
    public static Shards open(StoreConfig config, int shards) {
        Arguments.between(shards, 1, MAX_SHARDS, "shards");
        Path directory = config.directory();
        if (shards == 1) {
            checkNumber(directory, count(directory), 1);
            return new Shards(null, List.of(DurableListStore.open(config)));
        }
        return DedicatedThread.call(
                "open " + directory,
                () -> open(
                        FileStorage.open(
                                directory, FileStorage.Access.CREATE, found -> checkFiles(directory, found, shards)),
                        config,
                        shards));
    }

    private static Shards open(FileStorage storage, StoreConfig config, int shards) throws IOException {
        Path directory = config.directory();
        List<DurableListStore> stores = new ArrayList<>(shards);
        try {
            boolean created = storage.list().contains(FileNames.SHARDS);
            for (int shard = 0; shard < shards; shard++) {
                stores.add(DurableListStore.open(config.withDirectory(directory(directory, shard))));
            }
            if (!created) {
                requireEmpty(directory, stores);
                writeCount(storage, shards);
            }
            return new Shards(storage, List.copyOf(stores));
        } catch (IOException | RuntimeException | Error failed) {
            closeAll(stores, storage);
            throw failed;
        }
    }

    /** Checks the contents of a data directory with several shards. */
    private static void checkFiles(Path directory, Storage storage, int shards) throws IOException {
        List<String> names = storage.list();
        boolean created = names.contains(FileNames.SHARDS);
        boolean single = names.stream().anyMatch(FileNames::isOurs);
        checkNumber(directory, single ? 1 : created ? readCount(storage) : shards, shards);
        for (String name : names) {
            boolean ours = name.equals(FileNames.SHARDS)
                    || name.equals(FileNames.SHARDS + FileNames.TEMPORARY_ENDING)
                    || name.equals("lost+found")
                    || IntStream.range(0, shards).mapToObj(FileNames::shard).anyMatch(name::equals);
            if (!ours) {
                throw new StoreDirectoryException(directory.resolve(name) + " does not belong to a store with " + shards
                        + " shards; move what is not Caravan's elsewhere, or name another directory");
            }
        }
        for (int shard = 0; created && shard < shards; shard++) {
            requireStore(directory, shard, shards);
        }
    }

    private static void checkNumber(Path directory, int found, int wanted) {
        if (found != wanted) {
            throw new StoreDirectoryException(
                    directory + " was created with --shards " + found + " and cannot be opened with "
                            + wanted + ": a directory keeps its number of shards. Start with --shards " + found
                            + ", or copy its documents to a server with a new directory");
        }
    }

    /**
     * Checks that a shard exists, so that no shard starts empty if its disk is not mounted or its directory was moved.
     */
    private static void requireStore(Path directory, int shard, int shards) throws IOException {
        Path store = directory(directory, shard);
        if (!Files.isDirectory(store)
                || FileNames.CHECKPOINT
                        .numbers(FileStorage.readOnly(store).list())
                        .isEmpty()) {
            throw new StoreDirectoryException(store + " is missing or holds no store, but is one of the " + shards
                    + " shards of " + directory + ": put it back, or restore the whole directory from a backup");
        }
    }

    /**
     * Checks that the shards are empty. The file with the number of shards is missing either because the creation of
     * the shards was interrupted before the first write, or because the file was removed.
     */
    private static void requireEmpty(Path directory, List<DurableListStore> stores) {
        if (stores.stream().anyMatch(store -> store.stats().lists() > 0)) {
            throw new StoreDirectoryException(directory + " has shards with documents, but its file " + FileNames.SHARDS
                    + " is missing: put it back, or restore the whole directory from a backup");
        }
    }

    /** Returns the number of shards in a data directory, which may be in use; 1 if the directory is not sharded. */
    private static int count(Path directory) {
        return DedicatedThread.call(
                "read the number of shards of " + directory,
                () -> Files.exists(directory.resolve(FileNames.SHARDS))
                        ? readCount(FileStorage.readOnly(directory))
                        : 1);
    }

    private static int readCount(Storage storage) throws IOException {
        try (StoreFile file = storage.open(FileNames.SHARDS)) {
            ByteBuffer header = newHeader();
            file.read(header, 0);
            return (int) FileHeader.get(header.flip(), FileNames.SHARDS_LETTERS, file.path())
                    .number();
        }
    }

    /** Durably writes the file that contains the number of shards, and thereby records that all shards exist. */
    private static void writeCount(Storage storage, int shards) throws IOException {
        String temporary = FileNames.SHARDS + FileNames.TEMPORARY_ENDING;
        ByteBuffer header = newHeader();
        FileHeader.put(header, FileNames.SHARDS_LETTERS, new FileHeader.Fields(0, shards, 0));
        try (StoreFile file = storage.create(temporary, FileHeader.BYTES)) {
            file.write(header, 0);
            file.force();
        }
        storage.rename(temporary, FileNames.SHARDS);
        storage.forceDirectory();
    }

    private static ByteBuffer newHeader() {
        return ByteBuffer.allocate(FileHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Path directory(Path directory, int shard) {
        return directory.resolve(FileNames.shard(shard));
    }

    /**
     * Returns the directories of the stores in a data directory: the data directory itself, or one for each shard. The
     * stores may be open.
     *
     * @throws CorruptStoreException if the file with the number of shards is damaged
     */
    public static List<Path> directories(Path directory) {
        int shards = count(directory);
        return shards == 1
                ? List.of(directory)
                : IntStream.range(0, shards)
                        .mapToObj(shard -> directory(directory, shard))
                        .toList();
    }

    /**
     * Returns all shards, combined into one store. Closing this store does not release the lock of a data directory
     * with several shards; {@link #close()} does.
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
        if (storage == null) {
            return stores.get(0).backup(target, progress);
        }
        return DedicatedThread.call("back up to " + target, () -> {
            FileStorage.requireOutside(target, Path.of(storage.describe("")));
            try (NewDirectory copy = NewDirectory.begin(target, Shards::isOfCopy)) {
                BackupReport report = copyAll(copy, progress);
                writeCount(copy.storage(), stores.size());
                copy.publish();
                return report;
            }
        });
    }

    private BackupReport copyAll(NewDirectory copy, BackupReport.Progress progress) {
        BackupReport all = new BackupReport(0, 0, 0, 0);
        for (int shard = 0; shard < stores.size(); shard++) {
            long before = all.bytes();
            BackupReport part = stores.get(shard)
                    .backup(directory(copy.path(), shard), (done, total) -> progress.at(before + done, before + total));
            all = new BackupReport(
                    all.lsn() + part.lsn(),
                    all.checkpoint() + part.checkpoint(),
                    all.files() + part.files(),
                    all.bytes() + part.bytes());
        }
        return all;
    }

    /** Whether a file with this path in the target may be left over from an interrupted backup. */
    private static boolean isOfCopy(String path) {
        int slash = path.indexOf('/');
        String first = slash < 0 ? path : path.substring(0, slash);
        boolean shard = IntStream.range(0, MAX_SHARDS)
                .mapToObj(FileNames::shard)
                .anyMatch(name -> first.equals(name) || first.equals(name + NewDirectory.ENDING));
        return slash < 0
                ? shard || first.startsWith(FileNames.SHARDS)
                : shard && FileNames.isOurs(path.substring(slash + 1));
    }

    /** Closes all stores and releases the directory. Idempotent. */
    @Override
    public void close() {
        closeAll(stores, storage);
    }

    private static void closeAll(List<DurableListStore> stores, @Nullable FileStorage storage) {
        try {
            if (!stores.isEmpty()) {
                new ShardedStore(stores).close();
            }
        } finally {
            if (storage != null) {
                DedicatedThread.call("release the directory", () -> {
                    storage.close();
                    return storage;
                });
            }
        }
    }
}
