package io.caravan.io;

import io.caravan.StoreDirectoryException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Storage} in a directory of a file system. If the storage is open for reading only, it writes nothing and
 * rejects every operation that writes; other processes may then rename, delete, and write files concurrently.
 */
public final class FileStorage implements Storage {
    /**
     * The maximum number of zeros, in bytes, to write between two fsyncs. Without this limit, an fsync of the log would
     * wait until all zeros written so far are on disk.
     */
    private static final int FORCED_TOGETHER_BYTES = 4 << 20;

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private final Path directory;
    private final boolean writable;
    private final @Nullable DirectoryLock lock;
    /** The file system of the directory, once the usable space was measured. */
    private volatile @Nullable FileStore fileStore;

    private FileStorage(Path directory, boolean writable, @Nullable DirectoryLock lock) {
        this.directory = directory;
        this.writable = writable;
        this.lock = lock;
    }

    /** The purposes for which a directory can be opened and locked. */
    public enum Access {
        /** Writing; a missing directory is created, together with any missing parents. */
        CREATE,
        /** Writing to an existing directory. */
        WRITE,
        /** Reading an existing directory, which may be on a read-only file system. */
        READ
    }

    /** An operation on a directory. */
    @FunctionalInterface
    public interface Task<T> {
        void run(T directory) throws IOException;
    }

    /**
     * Opens and locks a directory. On a read-only file system, other readers may share the lock. If no lock file exists
     * there, no lock is taken: no process can have opened the store for writing.
     *
     * <p>If the directory has no lock file, checks it before it is locked, so that no lock file remains in a directory
     * of other files. Checks it again once it is locked.
     *
     * @param check throws an exception if the directory is not a suitable one
     * @throws StoreDirectoryException if the path is not a directory, or the access is not possible
     * @throws io.caravan.StoreLockedException if its store is already open
     */
    public static FileStorage open(Path directory, Access access, Task<Storage> check) throws IOException {
        return open(directory, access, check, FileStorage::isReadOnly);
    }

    static FileStorage open(Path directory, Access access, Task<Storage> check, Predicate<Path> isReadOnly)
            throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        if (access == Access.CREATE) {
            createDurably(absolute, FileStorage::force);
        }
        if (!Files.exists(absolute)) {
            throw new StoreDirectoryException(absolute + " does not exist");
        }
        if (!Files.isDirectory(absolute)) {
            throw new StoreDirectoryException(absolute + " is a file; a store needs a directory of its own");
        }
        boolean readOnly = isReadOnly.test(absolute);
        if (readOnly && access != Access.READ) {
            throw new StoreDirectoryException(
                    absolute + " is on a file system that is mounted read-only; the kernel does"
                            + " that after an error of the disk: see dmesg; verify, salvage and repair --dry-run work there, for"
                            + " all else mount it for writing");
        }
        if (!readOnly && !Files.isWritable(absolute) || !Files.isReadable(absolute)) {
            throw new StoreDirectoryException(absolute + " cannot be read and written by this user");
        }
        boolean hasLock = Files.exists(absolute.resolve(DirectoryLock.FILE_NAME));
        if (!hasLock) {
            check.run(readOnly(absolute));
        }
        DirectoryLock lock = hasLock || !readOnly ? DirectoryLock.acquire(absolute, readOnly) : null;
        FileStorage storage = new FileStorage(absolute, access != Access.READ, lock);
        try {
            check.run(storage);
            return storage;
        } catch (IOException | RuntimeException rejected) {
            storage.close();
            throw rejected;
        }
    }

    /** Opens an existing directory for reading only, without a lock. Another process may have the store open. */
    public static FileStorage readOnly(Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        if (!Files.isDirectory(absolute)) {
            throw new StoreDirectoryException(absolute + " is not a directory");
        }
        return new FileStorage(absolute, false, null);
    }

    /**
     * Checks that a directory, which may not exist yet, is not inside the directory of a store, which then could not be
     * opened.
     *
     * @throws StoreDirectoryException if it is inside
     */
    public static void requireOutside(Path directory, Path store) throws IOException {
        if (isInside(directory, store)) {
            throw new StoreDirectoryException(
                    directory + " is inside the store's directory, " + store + "; name another directory");
        }
    }

    /** Whether a directory is a store's directory or inside it. The directories need not exist. */
    public static boolean isInside(Path directory, Path store) throws IOException {
        return withoutLinks(directory).startsWith(withoutLinks(store));
    }

    /** Resolves the symbolic links in the existing part of a path. */
    private static Path withoutLinks(Path path) throws IOException {
        Path absolute = path.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        return parent == null || Files.exists(absolute)
                ? absolute.toRealPath()
                : withoutLinks(parent).resolve(absolute.getFileName());
    }

    /** Whether the file system of an existing directory is read-only. */
    private static boolean isReadOnly(Path directory) {
        try {
            return !Files.isWritable(directory) && Files.getFileStore(directory).isReadOnly();
        } catch (IOException unsupported) {
            return false;
        }
    }

    /** Checks that a directory has no files. */
    public static void requireEmpty(Storage directory) throws IOException {
        List<String> names = directory.list();
        if (!names.isEmpty()) {
            throw new StoreDirectoryException(directory.describe("") + " is not empty, and holds " + names.get(0)
                    + "; name a directory that is missing or empty");
        }
    }

    /**
     * Describes the failure of an operation on a file. Java's own messages consist of class names, or omit the reason.
     */
    public static String problem(IOException failure) {
        if (!(failure instanceof FileSystemException failed) || failed.getFile() == null) {
            return reason(failure);
        }
        String file = failed.getFile();
        if (failure instanceof NoSuchFileException) {
            Path directory = Path.of(file).toAbsolutePath().getParent();
            return directory == null || Files.isDirectory(directory)
                    ? "there is no file '" + file + "'"
                    : "there is no directory '" + directory + "' for '" + file + "'";
        }
        return "the file '" + file + "' cannot be read or written: " + reason(failure);
    }

    /** Returns the reason of a failure, without the name of the file. */
    static String reason(IOException failure) {
        String reason = failure instanceof FileSystemException failed ? failed.getReason() : failure.getMessage();
        if (reason != null) {
            return reason;
        }
        if (failure instanceof AccessDeniedException) {
            return "this user lacks the permission";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "it exists already";
        }
        return failure instanceof NotDirectoryException
                ? "it is not a directory"
                : failure.getClass().getSimpleName();
    }

    /**
     * Creates the directory, and any missing parents, if it does not exist. Fsyncs the parent directory even if the
     * directory exists, because the process that created it may have been killed before its fsync. Skips a parent
     * directory that cannot be read.
     */
    static void createDurably(Path directory, Task<Path> force) throws IOException {
        Path parent = directory.getParent();
        if (!Files.exists(directory)) {
            if (parent != null) {
                createDurably(parent, force);
            }
            try {
                Files.createDirectory(directory);
            } catch (IOException rejected) {
                throw new StoreDirectoryException(directory + " cannot be created: " + reason(rejected));
            }
        }
        if (parent != null && Files.isReadable(parent)) {
            force.run(parent);
        }
    }

    @Override
    public List<String> list() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            return namesOf(files);
        }
    }

    /** Returns the names of all files except the lock file. */
    static List<String> namesOf(Iterable<Path> files) throws IOException {
        List<String> names = new ArrayList<>();
        try {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (!name.equals(DirectoryLock.FILE_NAME)) {
                    names.add(name);
                }
            }
        } catch (DirectoryIteratorException unreadable) {
            throw unreadable.getCause();
        }
        return names;
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        Path path = toWrite(name);
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
            try {
                file.close();
                Files.deleteIfExists(path);
            } catch (IOException also) {
                failed.addSuppressed(also);
            }
            throw failed;
        }
    }

    @Override
    public long usableBytes() throws IOException {
        FileStore store = fileStore;
        if (store == null) {
            // This call reads the table of all mounts, which takes far longer than to measure the space.
            store = Files.getFileStore(directory);
            fileStore = store;
        }
        return store.getUsableSpace();
    }

    /** Returns the boot id that Linux provides. On other systems, each call returns a new id. */
    @Override
    public UUID bootId() throws IOException {
        return Files.isReadable(BOOT_ID)
                ? UUID.fromString(Files.readString(BOOT_ID).trim())
                : UUID.randomUUID();
    }

    @Override
    public StoreFile open(String name) throws IOException {
        Path path = directory.resolve(name);
        return new ChannelFile(
                path,
                writable
                        ? FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
                        : FileChannel.open(path, StandardOpenOption.READ));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        Files.move(toWrite(from), directory.resolve(to), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void delete(String name) throws IOException {
        Files.delete(toWrite(name));
    }

    @Override
    public void forceDirectory() throws IOException {
        force(toWrite(""));
    }

    /** Returns the path of a file that the caller will change. Throws an exception if the storage is read-only. */
    private Path toWrite(String name) {
        Path path = directory.resolve(name);
        if (!writable) {
            throw new UnsupportedOperationException(path + " is open for reading only");
        }
        return path;
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
        if (lock != null) {
            lock.release();
        }
    }

    /** A file that is read and written through a {@link FileChannel}. */
    private record ChannelFile(Path file, FileChannel channel) implements StoreFile {
        @Override
        public String path() {
            return file.toString();
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            int start = target.position();
            while (target.hasRemaining()) {
                if (channel.read(target, position + target.position() - start) < 0) {
                    break;
                }
            }
            return target.position() - start;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            int start = source.position();
            while (source.hasRemaining()) {
                channel.write(source, position + source.position() - start);
            }
        }

        @Override
        public void force() throws IOException {
            // fdatasync also makes an increased size durable, because reading the data depends on it.
            channel.force(false);
        }

        @Override
        public MappedFile map() throws IOException {
            return FileMapping.of(channel);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
