package io.caravan.server.backup;

import io.caravan.BackupReport;
import io.caravan.CaravanException;
import io.caravan.StoreClosedException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.backup.BackupException.Reason;
import io.caravan.server.backup.BackupInfo.State;
import io.caravan.server.document.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backs up the open store to subdirectories of the backup directory, one backup at a time, on a dedicated thread.
 * Thread-safe; its methods wait for the disk.
 */
public final class Backups implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Backups.class);

    /** Matches one path element that is not hidden, and that commands do not mistake for an option. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,199}");
    /** The suffix of a backup's directory while the copy is incomplete. */
    private static final String PARTIAL = ".partial";

    private static final int MAX_LISTED = 1_000;

    private final @Nullable Path directory;
    private final Source source;
    private final Executor threads;
    /**
     * The state of the latest attempt, or null. Must be read before the directory: otherwise, a backup that is renamed
     * between the two reads could be missing from both.
     */
    private volatile @Nullable BackupInfo latest;

    private volatile boolean closed;

    /** A store that can be copied while it is open. */
    @FunctionalInterface
    public interface Source {
        /** Copies the store to an empty or new directory; the copy is durable on return, and removed on failure. */
        BackupReport backup(Path target, BackupReport.Progress progress);
    }

    /** The result of a completed backup: its directory, the contents, and the duration of the copy. */
    public record Made(Path path, BackupReport report, long millis) {}

    /** Creates an instance as {@link #of(Source, Path)} does, but runs each backup on this executor. */
    Backups(Source source, @Nullable Path directory, Executor threads) {
        this.directory = directory == null ? null : directory.toAbsolutePath();
        this.source = source;
        this.threads = threads;
    }

    /** Creates an instance that copies a store to this directory; null disables backups. */
    public static Backups of(Source source, @Nullable Path directory) {
        return new Backups(source, directory, Backups::onOwnThread);
    }

    /** Returns an instance that rejects every request, for a server without backups. */
    public static Backups none() {
        return of(
                (target, progress) -> {
                    throw new IllegalStateException("there is no store to copy to " + target);
                },
                null);
    }

    private static void onOwnThread(Runnable backup) {
        Thread thread = new Thread(backup, "caravan-backup");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Starts a backup, whose outcome is notified on the backup's thread. Throws {@link BackupException} if there is no
     * directory, another backup is running, or the name is taken; and {@link IllegalArgumentException} if it is no
     * name.
     */
    public void start(String name, Outcome<Made> outcome) {
        Path target = directory(name);
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new BackupException(
                    Reason.BACKUP_EXISTS, target + " already exists: choose another name, or remove it first");
        }
        BackupInfo begun = new BackupInfo(name, target, State.RUNNING, System.currentTimeMillis(), 0, 0, null, null);
        synchronized (this) {
            if (running() != null) {
                throw new BackupException(
                        Reason.BACKUP_IN_PROGRESS, "another backup is being made: try again when it is done");
            }
            latest = begun;
        }
        try {
            threads.execute(() -> run(begun, outcome));
        } catch (Throwable notStarted) {
            fail(begun, notStarted);
            throw notStarted;
        }
    }

    /** Copies the store. Records the result first, because a notified caller may start the next backup at once. */
    private void run(BackupInfo begun, Outcome<Made> outcome) {
        Path path = begun.path();
        long start = System.nanoTime();
        BackupReport report;
        try {
            report = source.backup(path, (done, total) -> {
                latest = begun.with(State.RUNNING, done, total, null, null);
                if (closed) {
                    throw new StoreClosedException("the server is stopping: its store");
                }
            });
        } catch (RuntimeException problem) {
            fail(begun, problem);
            LOG.warn("backup '{}' failed, and its files were removed: {}", path, problem.getMessage());
            outcome.failure(problem);
            return;
        } catch (Error broken) {
            fail(begun, broken);
            outcome.failure(new IllegalStateException("the backup failed: " + broken, broken));
            throw broken;
        }
        latest = begun.with(State.COMPLETE, report.bytes(), 0, report, null);
        LOG.info("backup '{}' is complete: {} bytes, as of LSN {}", path, report.bytes(), report.lsn());
        outcome.success(new Made(path, report, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)));
    }

    private void fail(BackupInfo begun, Throwable problem) {
        String message = problem instanceof CaravanException ? problem.getMessage() : null;
        latest = begun.with(State.FAILED, 0, 0, null, message == null ? problem.toString() : message);
    }

    private Path directory() {
        if (directory == null) {
            throw new BackupException(Reason.NO_BACKUPS, "this server makes no backups: start it with --backup-dir");
        }
        return directory;
    }

    /** Returns the directory of a complete backup, after checking its name. */
    private Path directory(String name) {
        Path all = directory();
        requireName(name);
        return all.resolve(name);
    }

    /** Throws {@link IllegalArgumentException} if a backup cannot have this name. */
    public static void requireName(String name) {
        if (!isName(name)) {
            throw new IllegalArgumentException("'" + DocumentName.printable(name)
                    + "' cannot be a backup's name: it has 1 to 200 letters, digits, '-', '_' and '.', starts with a"
                    + " letter, a digit or '_', and does not end with " + PARTIAL);
        }
    }

    private static boolean isName(String name) {
        return NAME.matcher(name).matches() && !name.endsWith(PARTIAL);
    }

    /** Returns the running backup, or null if none is running. */
    public @Nullable BackupInfo running() {
        BackupInfo info = latest;
        return info == null || info.state() != State.RUNNING ? null : info;
    }

    /** Returns the backups in the directory, the running one, and the latest one if it has failed; newest first. */
    public List<BackupInfo> list() {
        Path in = directory();
        BackupInfo recorded = latest;
        Map<String, BackupInfo> found = found(in);
        if (recorded != null) {
            found.compute(recorded.name(), (name, there) -> joined(recorded, there));
        }
        return found.values().stream()
                .sorted(Comparator.comparingLong(BackupInfo::atMillis)
                        .reversed()
                        .thenComparing(BackupInfo::name))
                .toList();
    }

    /** Returns the backup with this name; throws {@link BackupException} if there is none. */
    public BackupInfo find(String name) {
        Path whole = directory(name);
        BackupInfo recorded = latest;
        BackupInfo complete = backup(whole);
        BackupInfo found = complete == null ? backup(whole.resolveSibling(name + PARTIAL)) : complete;
        BackupInfo now = recorded != null && recorded.name().equals(name) ? joined(recorded, found) : found;
        if (now == null) {
            throw new BackupException(Reason.NO_BACKUP, "there is no backup '" + name + "'");
        }
        return now;
    }

    /** Returns up to {@value #MAX_LISTED} complete or incomplete backups in the directory, by name. */
    private static Map<String, BackupInfo> found(Path directory) {
        Map<String, BackupInfo> found = new HashMap<>();
        try (Stream<Path> entries = Files.list(directory)) {
            entries.flatMap(entry -> Stream.ofNullable(backup(entry)))
                    .limit(MAX_LISTED)
                    .forEach(backup -> found.merge(
                            backup.name(), backup, (one, other) -> one.state() == State.COMPLETE ? one : other));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return found;
    }

    /** Returns the backup in this directory, or null if it is not a backup or has been removed. */
    private static @Nullable BackupInfo backup(Path entry) {
        String file = entry.getFileName().toString();
        boolean whole = !file.endsWith(PARTIAL);
        String name = whole ? file : file.substring(0, file.length() - PARTIAL.length());
        if (!isName(name) || !Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            return null;
        }
        try {
            long atMillis = Files.getLastModifiedTime(entry).toMillis();
            State state = whole ? State.COMPLETE : State.ABANDONED;
            return new BackupInfo(name, entry.resolveSibling(name), state, atMillis, bytes(entry), 0, null, null);
        } catch (NoSuchFileException removed) {
            return null;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static long bytes(Path entry) throws IOException {
        long bytes = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(entry)) {
            for (Path file : files) {
                // A sharded store has a directory for each shard.
                bytes += Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS) ? bytes(file) : Files.size(file);
            }
        }
        return bytes;
    }

    /** Combines this server's record of a backup with the backup found in the directory. */
    private static @Nullable BackupInfo joined(BackupInfo recorded, @Nullable BackupInfo found) {
        return switch (recorded.state()) {
            case RUNNING -> recorded;
            case COMPLETE -> found == null ? null : recorded;
            case FAILED, ABANDONED -> found == null ? recorded : found;
        };
    }

    /** Aborts a running backup, which then removes its files. */
    @Override
    public void close() {
        closed = true;
    }
}
