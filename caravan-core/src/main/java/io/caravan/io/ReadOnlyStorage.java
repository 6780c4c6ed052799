package io.caravan.io;

import io.caravan.StoreDirectoryException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A directory for reading only, which may contain a store that another process has open. It writes nothing, and rejects
 * every operation that writes. Other processes may rename, delete, and write files concurrently.
 */
public final class ReadOnlyStorage implements Storage {
    private final Path directory;
    private final @Nullable DirectoryLock lock;

    private ReadOnlyStorage(Path directory, @Nullable DirectoryLock lock) {
        this.directory = directory;
        this.lock = lock;
    }

    /** Opens an existing directory, and shares its lock if a lock file exists. */
    static ReadOnlyStorage locked(Path directory) throws IOException {
        boolean hasLock = Files.exists(directory.resolve(DirectoryLock.FILE_NAME));
        return new ReadOnlyStorage(directory, hasLock ? DirectoryLock.acquireShared(directory) : null);
    }

    /** Opens an existing directory without a lock. */
    public static ReadOnlyStorage of(Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        if (!Files.isDirectory(absolute)) {
            throw new StoreDirectoryException(absolute + " is not a directory");
        }
        return new ReadOnlyStorage(absolute, null);
    }

    @Override
    public List<String> list() throws IOException {
        return FileStorage.names(directory);
    }

    @Override
    public UUID bootId() {
        throw refused("");
    }

    @Override
    public StoreFile open(String name) throws IOException {
        return ChannelFile.open(directory.resolve(name), StandardOpenOption.READ);
    }

    @Override
    public String describe(String name) {
        return directory.resolve(name).toString();
    }

    @Override
    public StoreFile create(String name, long bytes) {
        throw refused(name);
    }

    @Override
    public long usableBytes() {
        return 0;
    }

    @Override
    public void rename(String from, String to) {
        throw refused(from);
    }

    @Override
    public void delete(String name) {
        throw refused(name);
    }

    @Override
    public void forceDirectory() {
        throw refused("");
    }

    private UnsupportedOperationException refused(String name) {
        return new UnsupportedOperationException(describe(name) + " is open for reading only");
    }

    @Override
    public void close() throws IOException {
        if (lock != null) {
            lock.release();
        }
    }
}
