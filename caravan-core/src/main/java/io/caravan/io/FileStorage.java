package io.caravan.io;

import io.caravan.StoreDirectoryException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;

/** {@link Storage} on a directory of a file system. */
public final class FileStorage implements Storage {
    /** Zeros are forced in portions, as a force of the log would wait for all that are not forced yet. */
    private static final int FORCED_TOGETHER_BYTES = 4 << 20;

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private final Path directory;
    private final DirectoryLock lock;

    private FileStorage(Path directory, DirectoryLock lock) {
        this.directory = directory;
        this.lock = lock;
    }

    /** How a directory's entries are made durable. */
    @FunctionalInterface
    interface DirectoryForce {
        void force(Path directory) throws IOException;
    }

    /**
     * Opens and locks the directory. If it is missing it is created, with its parents. Its own entry is durable then,
     * whoever created it, unless this user may not read its parent.
     *
     * @throws StoreDirectoryException when the path is not a directory or cannot be written
     * @throws io.caravan.StoreLockedException when its store is open elsewhere
     */
    public static FileStorage openOrCreate(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        createDurably(absolute, FileStorage::force);
        return open(absolute);
    }

    /** Opens and locks an existing directory; see {@link #openOrCreate(Path)}. */
    public static FileStorage open(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        if (!Files.exists(absolute)) {
            throw new StoreDirectoryException(absolute + " does not exist");
        }
        if (!Files.isDirectory(absolute)) {
            throw new StoreDirectoryException(absolute + " is a file; a store needs a directory of its own");
        }
        if (isReadOnly(absolute)) {
            throw new StoreDirectoryException(
                    absolute + " is on a file system that is mounted read-only; the kernel does"
                            + " that after an error of the disk: see dmesg; verify, salvage and repair --dry-run work there, for"
                            + " all else mount it for writing");
        }
        if (!Files.isWritable(absolute) || !Files.isReadable(absolute)) {
            throw new StoreDirectoryException(absolute + " cannot be read and written by this user");
        }
        return new FileStorage(absolute, DirectoryLock.acquire(absolute));
    }

    /**
     * Opens and locks an existing directory to read it. On a file system that is mounted read-only its lock is shared with
     * others who read, and is not taken where there is no lock file: nothing can be written there, so nobody can have
     * opened the store for writing.
     *
     * @throws StoreDirectoryException when the path is not a directory or cannot be read
     * @throws io.caravan.StoreLockedException when its store is open elsewhere
     */
    public static Storage openToRead(Path directory) throws IOException {
        return openToRead(directory, FileStorage::isReadOnly);
    }

    static Storage openToRead(Path directory, Predicate<Path> readOnly) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        return Files.isDirectory(absolute) && readOnly.test(absolute)
                ? ReadOnlyStorage.locked(absolute)
                : open(absolute);
    }

    /** Whether nobody can write to the file system of an existing directory. */
    private static boolean isReadOnly(Path directory) {
        try {
            return !Files.isWritable(directory) && Files.getFileStore(directory).isReadOnly();
        } catch (IOException notTold) {
            return false;
        }
    }

    /** A directory that is there already is forced too: whoever created it, an opening that was killed too, may not have. */
    static void createDurably(Path directory, DirectoryForce force) throws IOException {
        Path parent = directory.getParent();
        if (!Files.exists(directory)) {
            if (parent != null) {
                createDurably(parent, force);
            }
            try {
                Files.createDirectory(directory);
            } catch (IOException refused) {
                throw new StoreDirectoryException(directory + " cannot be created: " + refused);
            }
        }
        if (parent != null && Files.isReadable(parent)) {
            force.force(parent);
        }
    }

    @Override
    public List<String> list() throws IOException {
        return names(directory);
    }

    static List<String> names(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (!name.equals(DirectoryLock.FILE_NAME)) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        Path path = directory.resolve(name);
        ChannelFile file = new ChannelFile(
                path,
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE));
        try {
            ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(bytes, StoreFile.CACHED_TOGETHER_BYTES));
            for (long done = 0; done < bytes; done += zeros.limit()) {
                file.write(zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - done)), done);
                if ((done + zeros.limit()) % FORCED_TOGETHER_BYTES == 0) {
                    file.force();
                }
            }
            file.force();
            return file;
        } catch (IOException failed) {
            removeQuietly(file, path, failed);
            throw failed;
        }
    }

    private static void removeQuietly(StoreFile file, Path path, IOException failed) {
        try {
            file.close();
            Files.deleteIfExists(path);
        } catch (IOException also) {
            failed.addSuppressed(also);
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
    }

    /** Linux has one; where there is none, each call is a time of its own. */
    @Override
    public UUID bootId() throws IOException {
        return Files.isReadable(BOOT_ID)
                ? UUID.fromString(Files.readString(BOOT_ID).trim())
                : UUID.randomUUID();
    }

    @Override
    public StoreFile open(String name) throws IOException {
        return ChannelFile.open(directory.resolve(name), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        Files.move(directory.resolve(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void delete(String name) throws IOException {
        Files.delete(directory.resolve(name));
    }

    @Override
    public void forceDirectory() throws IOException {
        force(directory);
    }

    static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public String describe(String name) {
        return directory.resolve(name).toString();
    }

    @Override
    public void close() throws IOException {
        lock.release();
    }
}
