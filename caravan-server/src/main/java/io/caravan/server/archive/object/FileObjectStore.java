package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An object store in a directory. Each object is a file whose path is its key. Names with a {@code ~}, which no key
 * contains, are used for auxiliary files: locks, and incomplete files.
 *
 * <p>A file is written elsewhere, fsynced, and moved to its place, and then its directories are fsynced. Partial files
 * are never visible. Conditional puts and deletions exclude each other across all processes that use this class. They
 * do not exclude other programs, or {@link #put}, which has no condition. A tag is the hash of the content. Deletions
 * are not fsynced.
 *
 * <p>A directory that does not exist is empty, and is created by the first put.
 */
public final class FileObjectStore implements ObjectStore {
    /** Maximum number of names from one directory that a listing keeps in memory. */
    private static final int NAMES_AT_A_TIME = 100_000;

    private static final String LOCK_NAME = "~lock";
    /** The lock of each real directory, shared by all stores of this process. Never removed, because there are few. */
    private static final Map<Path, ReentrantLock> LOCKS = new ConcurrentHashMap<>();

    private final Path directory;
    private final String location;
    /** The staging directory; null until the first write. Guarded by this. */
    private @Nullable Staging staging;
    /** Whether this store is closed. Guarded by this. */
    private boolean closed;

    private FileObjectStore(Path directory) {
        this.directory = directory;
        this.location = "file:" + directory;
    }

    /**
     * Opens a directory, which need not exist.
     *
     * @throws ObjectStoreException when it cannot contain objects
     */
    public static FileObjectStore open(Path directory) {
        FileObjectStore store = new FileObjectStore(directory.toAbsolutePath().normalize());
        store.checkDirectory();
        return store;
    }

    private void checkDirectory() {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new ObjectStoreException(
                    Kind.NOT_FOUND, location + " is a file; an archive needs its own directory", null);
        }
        run("open", "", () -> Staging.rejectIfCaseIsIgnored(directory));
    }

    @Override
    public String location() {
        return location;
    }

    @Override
    public @Nullable Stored get(String key, int maxBytes) {
        try (SeekableByteChannel channel = Files.newByteChannel(path(key))) {
            long bytes = channel.size();
            if (bytes > maxBytes) {
                String why = "it has " + bytes + " bytes, and the maximum is " + maxBytes;
                throw problem(Kind.CORRUPT, "read", key, why, null);
            }
            byte[] content = Channels.newInputStream(channel).readNBytes((int) bytes);
            if (content.length < bytes) {
                throw problem(Kind.CORRUPT, "read", key, "it was truncated while it was read", null);
            }
            return new Stored(content, tag(content));
        } catch (NoSuchFileException none) {
            return null;
        } catch (IOException failed) {
            throw problem("read", key, failed);
        }
    }

    @Override
    public InputStream open(String key) {
        try {
            // A stream from {@code Files.newInputStream} would ignore interrupts.
            return new ObjectInput(key, Channels.newInputStream(FileChannel.open(path(key), StandardOpenOption.READ)));
        } catch (IOException failed) {
            throw problem("read", key, failed);
        }
    }

    @Override
    public void put(String key, Content content) {
        Path place = path(key);
        run("write", key, () -> {
            staging().stage(content, file -> ObjectDirectories.move(file, place));
            ObjectDirectories.forceAbove(place, directory);
        });
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        Path place = path(key);
        run("write", key, () -> {
            staging()
                    .stage(
                            out -> out.write(content),
                            file -> decide(() -> {
                                checkUnchanged("write", key, tag);
                                ObjectDirectories.move(file, place);
                            }));
            ObjectDirectories.forceAbove(place, directory);
        });
        return tag(content);
    }

    private static String tag(byte[] content) {
        return Digests.hex(Digests.sha256().digest(content));
    }

    private void checkUnchanged(String call, String key, @Nullable String tag) throws IOException {
        String now = currentTag(key);
        if (tag == null && now != null) {
            throw problem(Kind.CONFLICT, call, key, "the object exists already", null);
        }
        if (tag != null && !tag.equals(now)) {
            String why = now == null ? "it was deleted concurrently" : "it was changed concurrently";
            throw problem(Kind.CONFLICT, call, key, why, null);
        }
    }

    private @Nullable String currentTag(String key) throws IOException {
        try (DigestInputStream in = new DigestInputStream(Files.newInputStream(path(key)), Digests.sha256())) {
            in.transferTo(OutputStream.nullOutputStream());
            return Digests.hex(in.getMessageDigest().digest());
        } catch (NoSuchFileException none) {
            return null;
        }
    }

    @Override
    public void list(String prefix, Predicate<Listed> action) {
        ObjectKeys.checkedDirectory(prefix);
        run("list", prefix, () -> new DirectoryListing(directory, NAMES_AT_A_TIME, action).run(prefix));
    }

    @Override
    public void delete(String key) {
        run("delete", key, () -> remove(key));
    }

    @Override
    public boolean deleteIf(String key, String tag) {
        path(key);
        if (!Files.isDirectory(directory)) {
            throw problem(Kind.CONFLICT, "delete", key, "it was deleted concurrently", null);
        }
        run(
                "delete",
                key,
                () -> decide(() -> {
                    checkUnchanged("delete", key, tag);
                    remove(key);
                }));
        return true;
    }

    private void remove(String key) throws IOException {
        Path place = path(key);
        if (Files.deleteIfExists(place)) {
            ObjectDirectories.removeEmptyAbove(place, directory);
        }
    }

    private Path path(String key) {
        return directory.resolve(ObjectKeys.checked(key));
    }

    private interface Action {
        void run() throws IOException;
    }

    private void run(String call, String key, Action action) {
        try {
            action.run();
        } catch (IOException failed) {
            throw problem(call, key, failed);
        } catch (DirectoryIteratorException unreadable) {
            throw problem(call, key, Objects.requireNonNull(unreadable.getCause()));
        }
    }

    /**
     * Runs a conditional put or deletion. Across all processes, only one thread at a time runs such an action. A file
     * lock excludes other processes. A lock in memory excludes other threads of this process, which the operating
     * system's locks do not exclude.
     *
     * <p>The file is opened for each action. An interrupt closes the channel on which the caller waits, so it affects
     * only that call. A process opens the file at most once at a time, because closing any channel of a file releases
     * all of the process's locks on it.
     */
    private void decide(Action decision) throws IOException {
        Path real = directory.toRealPath();
        ReentrantLock here = LOCKS.computeIfAbsent(real, unused -> new ReentrantLock());
        try {
            here.lockInterruptibly();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        try (FileChannel channel =
                        FileChannel.open(real.resolve(LOCK_NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            decision.run();
        } finally {
            here.unlock();
        }
    }

    private synchronized Staging staging() throws IOException {
        if (closed) {
            throw new IOException("the archive's directory is closed");
        }
        if (staging == null) {
            staging = Staging.begin(directory);
        }
        return staging;
    }

    @Override
    public synchronized void close() {
        closed = true;
        Staging open = staging;
        staging = null;
        if (open != null) {
            run("close", "", open::close);
        }
    }

    /** Converts a file system error to an {@link ObjectStoreException}. An empty key stands for the store. */
    private ObjectStoreException problem(String call, String key, IOException cause) {
        if (cause instanceof ClosedByInterruptException || cause instanceof InterruptedIOException) {
            return problem(Kind.UNAVAILABLE, call, key, "interrupted", cause);
        }
        String reason = reason(cause);
        if (cause instanceof Staging.CaseIgnoredException) {
            return problem(Kind.CORRUPT, call, key, reason, cause);
        }
        if (cause instanceof NoSuchFileException) {
            return problem(Kind.NOT_FOUND, call, key, "the object does not exist", cause);
        }
        String lower = reason.toLowerCase(Locale.ROOT);
        if (lower.contains("no space left") || lower.contains("quota exceeded")) {
            return problem(Kind.FULL, call, key, "its file system is full: free space (" + reason + ")", cause);
        }
        if (cause instanceof AccessDeniedException || lower.contains("read-only file system")) {
            String advice =
                    "permission denied: give the user of this process read and write permission (" + reason + ")";
            return problem(Kind.DENIED, call, key, advice, cause);
        }
        return problem(Kind.UNAVAILABLE, call, key, reason, cause);
    }

    private ObjectStoreException problem(Kind kind, String call, String key, String why, @Nullable Throwable cause) {
        String what = key.isEmpty() ? location : "'" + key + "' in " + location;
        return new ObjectStoreException(kind, "cannot " + call + " " + what + ": " + why, cause);
    }

    private static String reason(IOException cause) {
        if (cause instanceof FileSystemException named) {
            String reason = named.getReason();
            return (reason == null ? named.getClass().getSimpleName() : reason) + ", " + named.getFile();
        }
        String message = cause.getMessage();
        return message == null ? cause.toString() : message;
    }

    /** Reads the bytes of an object, and reports errors as {@link ObjectStoreException}s. */
    private final class ObjectInput extends FilterInputStream {
        private final String key;

        ObjectInput(String key, InputStream in) {
            super(in);
            this.key = key;
        }

        @Override
        public int read() {
            try {
                return in.read();
            } catch (IOException failed) {
                throw problem("read", key, failed);
            }
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            try {
                return in.read(bytes, offset, length);
            } catch (IOException failed) {
                throw problem("read", key, failed);
            }
        }

        @Override
        public void close() {
            run("read", key, in::close);
        }
    }
}
