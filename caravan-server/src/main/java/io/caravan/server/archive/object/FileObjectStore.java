package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeSet;
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
        if (Files.exists(store.directory) && !Files.isDirectory(store.directory)) {
            throw new ObjectStoreException(
                    Kind.NOT_FOUND, store.location + " is a file; an archive needs its own directory", null);
        }
        Staging.rejectIfCaseIsIgnored(store.directory);
        return store;
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
        run("write", key, () -> staging().put(place, directory, content, null));
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        Path place = path(key);
        run("write", key, () -> {
            Staging.Action condition = () -> checkUnchanged("write", key, tag);
            staging().put(place, directory, out -> out.write(content), condition);
        });
        return tag(content);
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
                () -> Staging.decide(directory, () -> {
                    checkUnchanged("delete", key, tag);
                    remove(key);
                }));
        return true;
    }

    private void remove(String key) throws IOException {
        Path place = path(key);
        if (Files.deleteIfExists(place)) {
            Staging.removeEmptyAbove(place, directory);
        }
    }

    private Path path(String key) {
        return directory.resolve(ObjectKeys.checked(key));
    }

    private void run(String call, String key, Staging.Action action) {
        try {
            action.run();
        } catch (IOException failed) {
            throw problem(call, key, failed);
        } catch (DirectoryIteratorException unreadable) {
            throw problem(call, key, Objects.requireNonNull(unreadable.getCause()));
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
        private final Predicate<Listed> action;

        DirectoryListing(Path root, int namesAtATime, Predicate<Listed> action) {
            this.root = root;
            this.namesAtATime = namesAtATime;
            this.action = action;
        }

        /**
         * Passes the files under a directory, which is empty or ends with a slash, to the action. Returns false when the
         * action has ended the listing.
         */
        boolean run(String directory) throws IOException {
            String floor = "";
            while (true) {
                List<String> names = lowest(directory, floor);
                for (String name : names) {
                    if (!report(directory, name)) {
                        return false;
                    }
                }
                if (names.size() < namesAtATime) {
                    return true;
                }
                floor = names.get(names.size() - 1);
            }
        }

        private boolean report(String directory, String name) throws IOException {
            String key = directory + name;
            if (name.endsWith("/")) {
                return run(key);
            }
            try {
                BasicFileAttributes file = Files.readAttributes(root.resolve(key), BasicFileAttributes.class);
                return action.test(
                        new Listed(key, file.size(), file.lastModifiedTime().toMillis()));
            } catch (NoSuchFileException deleted) {
                return true;
            }
        }

        /** Returns the lowest names in a directory above a floor, in order; names of subdirectories end with a slash. */
        private List<String> lowest(String directory, String floor) throws IOException {
            TreeSet<String> names = new TreeSet<>();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(root.resolve(directory))) {
                for (Path file : files) {
                    offer(file, floor, names);
                }
            } catch (NoSuchFileException | NotDirectoryException none) {
                return List.of();
            }
            return new ArrayList<>(names);
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
