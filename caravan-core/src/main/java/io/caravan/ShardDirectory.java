package io.caravan;

import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.ReadOnlyStorage;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The directory of a sharded store. It contains a directory for each shard, and a file with the number of shards. The
 * file is written last: if it exists, all shards were created, and a missing shard has been lost.
 */
final class ShardDirectory implements AutoCloseable {
    private final Path directory;
    private final FileStorage storage;
    private final int groups;
    private boolean made;
    private boolean closed;

    private ShardDirectory(Path directory, FileStorage storage, int groups, boolean made) {
        this.directory = directory;
        this.storage = storage;
        this.groups = groups;
        this.made = made;
    }

    /**
     * Locks the directory, and creates it if it is missing. Changes nothing in it before {@link #made()}.
     *
     * @throws StoreDirectoryException if the directory was created with another number of shards, lacks a shard, or
     *     contains other files
     */
    static ShardDirectory open(Path directory, int groups) throws IOException {
        FileStorage storage = FileStorage.openOrCreate(directory);
        try {
            List<String> names = storage.list();
            boolean made = names.contains(FileNames.GROUPS);
            requireOurs(directory, names, groups, made ? count(storage) : groups);
            ShardDirectory opened = new ShardDirectory(directory, storage, groups, made);
            if (made) {
                opened.requireStores();
            }
            return opened;
        } catch (IOException | RuntimeException refused) {
            storage.close();
            throw refused;
        }
    }

    private static void requireOurs(Path directory, List<String> names, int wanted, int found) {
        if (names.stream().anyMatch(FileNames::isOurs)) {
            throw otherNumber(directory, 1, wanted);
        }
        if (found != wanted) {
            throw otherNumber(directory, found, wanted);
        }
        for (String name : names) {
            boolean ours = name.equals(FileNames.GROUPS)
                    || name.equals(FileNames.GROUPS + FileNames.TEMPORARY_ENDING)
                    || name.equals("lost+found")
                    || IntStream.range(0, wanted).mapToObj(FileNames::group).anyMatch(name::equals);
            if (!ours) {
                throw new StoreDirectoryException(directory.resolve(name) + " is not of a store in " + wanted
                        + " groups; move what is not Caravan's elsewhere, or name another directory");
            }
        }
    }

    /** Returns an exception that names the directory's number of shards and suggests what to do. */
    static StoreDirectoryException otherNumber(Path directory, int found, int wanted) {
        return new StoreDirectoryException(
                directory + " was made with --shards " + found + " and cannot be opened with "
                        + wanted + ": a directory keeps its number of shards. Start with --shards " + found
                        + ", or copy its documents to a server with a new directory");
    }

    /** Returns the number of shards of a directory, which may be in use; 1 if it is not sharded. */
    static int count(Path directory) throws IOException {
        return Files.exists(directory.resolve(FileNames.GROUPS)) ? count(ReadOnlyStorage.of(directory)) : 1;
    }

    private static int count(Storage storage) throws IOException {
        try (StoreFile file = storage.open(FileNames.GROUPS)) {
            ByteBuffer header = header();
            file.read(header, 0);
            return (int) FileHeader.get(header.flip(), FileHeader.Kind.GROUPS, file.path())
                    .number();
        }
    }

    private static ByteBuffer header() {
        return ByteBuffer.allocate(FileHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Checks that every shard exists. A shard must not start empty because its disk is not mounted or its directory was
     * moved.
     */
    private void requireStores() throws IOException {
        for (int group = 0; group < groups; group++) {
            if (!isStore(folder(group))) {
                throw new StoreDirectoryException(folder(group) + " is missing or holds no store, but is one of the "
                        + groups + " groups of " + directory + ": put it back, or restore the whole directory from a"
                        + " backup");
            }
        }
    }

    private static boolean isStore(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(file ->
                    FileNames.CHECKPOINT.number(file.getFileName().toString()).isPresent());
        }
    }

    Path folder(int group) {
        return directory.resolve(FileNames.group(group));
    }

    /** Whether the existence of all shards has been recorded. */
    boolean isMade() {
        return made;
    }

    /** Records durably that all shards exist. */
    void made() throws IOException {
        write(storage, groups);
        made = true;
    }

    /** Writes the file with the number of shards. */
    static void write(Storage storage, int groups) throws IOException {
        String temporary = FileNames.GROUPS + FileNames.TEMPORARY_ENDING;
        ByteBuffer header = header();
        FileHeader.put(header, FileHeader.Kind.GROUPS, new FileHeader.Fields(0, groups, 0));
        try (StoreFile file = storage.create(temporary, FileHeader.BYTES)) {
            file.write(header, 0);
            file.force();
        }
        storage.rename(temporary, FileNames.GROUPS);
        storage.forceDirectory();
    }

    /**
     * Releases the lock. Idempotent: a second call does not release a lock that another opener has taken in the
     * meantime.
     */
    @Override
    public synchronized void close() throws IOException {
        if (!closed) {
            closed = true;
            storage.close();
        }
    }
}
