package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
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
 * <p>A process locks each incomplete file that it is writing. A store that begins to write removes the files that are not
 * locked, which killed processes have left.
 *
 * <p>A directory that does not exist is empty, and is created by the first put.
 */
public final class FileObjectStore implements ObjectStore {
    /** Maximum number of names from one directory that a listing keeps in memory. */
    private static final int NAMES_AT_A_TIME = 100_000;

    /** The directory of files that are not complete. No key has its name. */
    private static final String INCOMPLETE = "~tmp";
    /** A name that refers to the same directory if the file system ignores case. */
    private static final String IN_CAPITALS = "~TMP";

    private static final String DECISION_LOCK = "~lock";
    private static final int BUFFER_BYTES = 64 * 1024;
    /** Maximum number of times that a directory may be removed before its first file is moved into it. */
    private static final int TRIES = 100;

    /** The lock of each real directory for {@link #decide}. Never removed, because there are few. */
    private static final Map<Path, ReentrantLock> DECISIONS = new ConcurrentHashMap<>();
    /** The names of the incomplete files that this process is writing. */
    private static final Set<String> WRITING = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final String location;
    /** The real directory to which this store has begun to write. */
    private volatile @Nullable Path begun;

    private volatile boolean closed;

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
        if (Files.exists(store.directory) && !Files.isDirectory(store.directory)) {
            throw new ObjectStoreException(
                    Kind.NOT_FOUND, store.location + " is a file; an archive needs its own directory", null);
        }
        store.rejectIfCaseIsIgnored();
        return store;
    }

    /** Throws if the directory of incomplete files shows that the file system ignores case. */
    private void rejectIfCaseIsIgnored() {
        if (Files.exists(directory.resolve(INCOMPLETE)) && Files.exists(directory.resolve(IN_CAPITALS))) {
            throw new ObjectStoreException(
                    Kind.CORRUPT,
                    "the file system of " + directory
                            + " does not distinguish capital letters from small ones, so documents"
                            + " would overwrite each other: choose a directory on another file system",
                    null);
        }
    }

    @Override
    public String location() {
        return location;
    }

    @Override
    public @Nullable Stored get(String key, int maxBytes) {
        // Files.readAllBytes would ignore interrupts.
        try (FileChannel channel = FileChannel.open(path(key), StandardOpenOption.READ)) {
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
            return Channels.newInputStream(FileChannel.open(path(key), StandardOpenOption.READ));
        } catch (IOException failed) {
            throw problem("read", key, failed);
        }
    }

    @Override
    public void put(String key, Content content) {
        Path place = path(key);
        write(key, content, file -> move(file, place));
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        Path place = path(key);
        write(
                key,
                out -> out.write(content),
                file -> decide(() -> {
                    checkUnchanged("write", key, tag);
                    move(file, place);
                }));
        return tag(content);
    }

    interface Action {
        void run() throws IOException;
    }

    private interface Mover {
        void move(Path file) throws IOException;
    }

    /** Writes a file and moves it to its place, durably. Deletes the file if it has not been moved. */
    private void write(String key, Content content, Mover mover) {
        String name = UUID.randomUUID().toString();
        run("write", key, () -> {
            Path file = incomplete().resolve(name);
            WRITING.add(name);
            try (Closeable removal = () -> Files.deleteIfExists(file)) {
                write(file, content, mover);
            } finally {
                WRITING.remove(name);
            }
            forceAbove(path(key));
        });
    }

    /** Writes and fsyncs a file. Its lock shows other processes, until it is moved, that it is not a leftover. */
    private static void write(Path file, Content content, Mover mover) throws IOException {
        boolean locked = false;
        while (!locked) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                // Another process may have removed the file before it was locked; the file is then created again.
                locked = Files.exists(file);
                if (locked) {
                    OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
                    content.writeTo(out);
                    out.flush();
                    channel.force(true);
                    mover.move(file);
                }
            }
        }
    }

    /**
     * Returns the directory in which files are written before they are moved to their places. A store creates it only
     * before its first write, and when a symbolic link in the path has been changed: if the disk is unmounted, writes
     * fail. Later writes wait for no lock here, so that those to a slow file system do not delay each other.
     */
    private Path incomplete() throws IOException {
        if (closed) {
            throw new IOException("the archive's directory is closed");
        }
        if (begun == null) {
            createDurably(directory);
        }
        Path real = directory.toRealPath();
        Path incomplete = real.resolve(INCOMPLETE);
        if (!real.equals(begun)) {
            begin(real, incomplete);
        }
        return incomplete;
    }

    private synchronized void begin(Path real, Path incomplete) throws IOException {
        if (!real.equals(begun)) {
            createDurably(incomplete);
            rejectIfCaseIsIgnored();
            removeLeftovers(incomplete);
            begun = real;
        }
    }

    /** Removes the incomplete files that no process is writing. */
    private static void removeLeftovers(Path incomplete) throws IOException {
        // One thread of this process at a time, because a process cannot lock a file twice.
        synchronized (WRITING) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(incomplete)) {
                for (Path file : files) {
                    // Closing a channel would release this process's own lock on the file.
                    if (!WRITING.contains(file.getFileName().toString())) {
                        removeUnlessLocked(file);
                    }
                }
            }
        }
    }

    private static void removeUnlessLocked(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
                FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
            if (lock != null) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException | AccessDeniedException inUse) {
            // It was completed, or belongs to another user.
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
        ReentrantLock deciding = DECISIONS.computeIfAbsent(real, unused -> new ReentrantLock());
        try {
            deciding.lockInterruptibly();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        try (FileChannel channel = FileChannel.open(
                        real.resolve(DECISION_LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            decision.run();
        } finally {
            deciding.unlock();
        }
    }

    /** Creates a directory and its missing parents. Threads that find them wait until they are durable. */
    private synchronized void createDurably(Path directory) throws IOException {
        Path parent = directory.getParent();
        if (parent != null && !Files.exists(directory)) {
            createDurably(parent);
            Files.createDirectories(directory);
            force(parent);
        }
    }

    /** Moves a file to its place atomically, replacing any existing file, and creates missing directories. */
    private static void move(Path from, Path to) throws IOException {
        for (int tried = 1; ; tried++) {
            try {
                Files.createDirectories(above(to));
                Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
                return;
            } catch (NoSuchFileException | FileAlreadyExistsException gone) {
                // Another process has deleted the last file in this directory, or in one above it, and then the
                // directory. This happened after this method had created the directory or found that it existed.
                if (tried == TRIES || !Files.exists(from)) {
                    throw gone;
                }
            }
        }
    }

    /** Makes a file's name and its directories' names durable, since the directories may not have been fsynced yet. */
    private void forceAbove(Path file) throws IOException {
        for (Path above = above(file); !above.equals(directory); above = above(above)) {
            try {
                force(above);
            } catch (NoSuchFileException deleted) {
                // Another process has deleted the file and the directory, so no name has to become durable.
            }
        }
        force(directory);
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Returns the parent of a path. It exists, because the path is below a root. */
    private static Path above(Path path) {
        return Objects.requireNonNull(path.getParent());
    }

    private static String tag(byte[] content) {
        return Digests.hex(Digests.sha256().digest(content));
    }

    private void checkUnchanged(String call, String key, @Nullable String tag) {
        Stored stored = get(key, Integer.MAX_VALUE);
        String now = stored == null ? null : stored.tag();
        if (tag == null && now != null) {
            throw problem(Kind.CONFLICT, call, key, "the object exists already", null);
        }
        if (tag != null && !tag.equals(now)) {
            String why = now == null ? "it was deleted concurrently" : "it was changed concurrently";
            throw problem(Kind.CONFLICT, call, key, why, null);
        }
    }

    @Override
    public Stream<Listed> list(String prefix) {
        DirectoryListing listing =
                new DirectoryListing(directory, NAMES_AT_A_TIME, ObjectKeys.checkedDirectory(prefix));
        return Stream.iterate(next(listing, prefix), Objects::nonNull, previous -> next(listing, prefix));
    }

    private @Nullable Listed next(DirectoryListing listing, String prefix) {
        run("list", prefix, listing::advance);
        return listing.current;
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

    /** Deletes a file, and the directories that become empty. */
    private void remove(String key) throws IOException {
        Path place = path(key);
        try {
            if (Files.deleteIfExists(place)) {
                for (Path above = above(place); !above.equals(directory); above = above(above)) {
                    Files.deleteIfExists(above);
                }
            }
        } catch (DirectoryNotEmptyException inUse) {
            // The usual case: this directory and those above it stay.
        }
    }

    private Path path(String key) {
        return directory.resolve(ObjectKeys.checked(key));
    }

    void run(String call, String key, Action action) {
        try {
            action.run();
        } catch (IOException failed) {
            throw problem(call, key, failed);
        } catch (DirectoryIteratorException unreadable) {
            throw problem(call, key, Objects.requireNonNull(unreadable.getCause()));
        }
    }

    @Override
    public void close() {
        closed = true;
    }

    /** Converts a file system error to an {@link ObjectStoreException}. An empty key stands for the store. */
    private ObjectStoreException problem(String call, String key, IOException cause) {
        if (cause instanceof ClosedByInterruptException
                || cause instanceof FileLockInterruptionException
                || cause instanceof InterruptedIOException) {
            return problem(Kind.UNAVAILABLE, call, key, "interrupted", cause);
        }
        String reason = reason(cause);
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

    /**
     * Lists a directory's files in the order of their keys. A directory sorts as its name followed by a slash, because all
     * keys in it start with these characters.
     *
     * <p>A file system returns names in no particular order. To limit memory, this class keeps only the lowest names of a
     * directory that it has not listed yet, up to a limit. It therefore reads a larger directory several times. Files that
     * are added or removed during the listing may be omitted.
     */
    static final class DirectoryListing {
        private final Path root;
        private final int namesAtATime;
        /** The directories that contain the next file, starting with the innermost one. */
        private final Deque<Level> levels = new ArrayDeque<>();

        /** The current file; null after the last one. */
        @Nullable
        Listed current;

        /** A directory, and those of its names that were read but not yet listed. */
        private static final class Level {
            private final String directory;
            private final Deque<String> names = new ArrayDeque<>();
            private String floor = "";
            private boolean complete;

            private Level(String directory) {
                this.directory = directory;
            }
        }

        /** Creates a listing of the files under a directory, which is empty or ends with a slash. */
        DirectoryListing(Path root, int namesAtATime, String directory) {
            this.root = root;
            this.namesAtATime = namesAtATime;
            levels.push(new Level(directory));
        }

        /** Sets the current file to the next one. */
        void advance() throws IOException {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted");
            }
            current = null;
            while (current == null && !levels.isEmpty()) {
                Level level = levels.element();
                String name = level.names.poll();
                if (name != null && name.endsWith("/")) {
                    levels.push(new Level(level.directory + name));
                } else if (name != null) {
                    current = file(level.directory + name);
                } else if (level.complete) {
                    levels.pop();
                } else {
                    readNames(level);
                }
            }
        }

        /** Returns a file, or null if it has been deleted. */
        private @Nullable Listed file(String key) throws IOException {
            try {
                BasicFileAttributes file = Files.readAttributes(root.resolve(key), BasicFileAttributes.class);
                return new Listed(key, file.size(), file.lastModifiedTime().toMillis());
            } catch (NoSuchFileException deleted) {
                return null;
            }
        }

        private void readNames(Level level) throws IOException {
            level.names.addAll(lowest(level.directory, level.floor));
            level.complete = level.names.size() < namesAtATime;
            level.floor = level.complete ? "" : level.names.getLast();
        }

        /** Returns the lowest names in a directory above a floor, in order; names of subdirectories end with a slash. */
        private Set<String> lowest(String directory, String floor) throws IOException {
            TreeSet<String> names = new TreeSet<>();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(root.resolve(directory))) {
                for (Path file : files) {
                    offer(file, floor, names);
                }
            } catch (NoSuchFileException | NotDirectoryException none) {
                return Set.of();
            }
            return names;
        }

        private void offer(Path file, String floor, TreeSet<String> names) {
            String name = file.getFileName().toString();
            boolean before = (name + "/").compareTo(floor) <= 0;
            boolean beyond = names.size() == namesAtATime && name.compareTo(names.last()) > 0;
            // This excludes most names of a large directory before their files' attributes are read.
            if (before || beyond || !ObjectKeys.isKey(name)) {
                return;
            }
            String inOrder = Files.isDirectory(file) ? name + "/" : name;
            if (inOrder.compareTo(floor) > 0) {
                names.add(inOrder);
                if (names.size() > namesAtATime) {
                    names.pollLast();
                }
            }
        }
    }
}
