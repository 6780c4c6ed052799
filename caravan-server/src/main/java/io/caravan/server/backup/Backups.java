package io.caravan.server.backup;

import io.caravan.BackupReport;
import io.caravan.CaravanException;
import io.caravan.StoreClosedException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.backup.BackupException.Reason;
import io.caravan.server.backup.BackupInfo.State;
import io.caravan.server.document.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backs up the open store to subdirectories of the backup directory, one backup at a time, on a dedicated thread.
 * Thread-safe; its methods wait for the disk.
 */
public final class Backups implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Backups.class);

    private final @Nullable BackupDirectories directories;
    private final Source source;
    private final Executor threads;
    private final AtomicReference<@Nullable Attempt> latest = new AtomicReference<>();
    private volatile boolean closed;

    /** A store that can be copied while it is open. */
    @FunctionalInterface
    public interface Source {
        /** Copies the store to an empty or new directory; the copy is durable on return, and removed on failure. */
        BackupReport backup(Path target, BackupReport.Progress progress);
    }

    /** The result of a completed backup: its directory, the contents, and the duration of the copy. */
    public record Made(Path path, BackupReport report, long millis) {}

    /** A running or finished backup, which aborts when the server stops. */
    private final class Attempt implements BackupReport.Progress {
        final String name;
        final Path path;
        final long atMillis = System.currentTimeMillis();
        volatile BackupInfo info;

        Attempt(String name, Path path) {
            this.name = name;
            this.path = path;
            this.info = info(State.RUNNING, 0, 0, null, null);
        }

        private BackupInfo info(
                State state, long bytes, long total, @Nullable BackupReport report, @Nullable String problem) {
            return new BackupInfo(name, path, state, atMillis, bytes, total, report, problem);
        }

        @Override
        public void at(long done, long total) {
            info = info(State.RUNNING, done, total, null, null);
            if (closed) {
                throw new StoreClosedException("the server is stopping: its store");
            }
        }

        void fail(Throwable problem) {
            String message = problem instanceof CaravanException ? problem.getMessage() : null;
            info = info(State.FAILED, 0, 0, null, message == null ? problem.toString() : message);
        }

        /** Copies the store. Records the result first, because a notified caller may start the next backup at once. */
        void run(Outcome<Made> outcome) {
            long start = System.nanoTime();
            BackupReport report;
            try {
                report = source.backup(path, this);
            } catch (RuntimeException problem) {
                fail(problem);
                LOG.warn("backup {} failed, and its files were removed: {}", path, problem.getMessage());
                outcome.failure(problem);
                return;
            } catch (Error broken) {
                fail(broken);
                outcome.failure(new IllegalStateException("the backup failed: " + broken, broken));
                throw broken;
            }
            info = info(State.COMPLETE, report.bytes(), 0, report, null);
            LOG.info("backup {} is complete: {} bytes, as of LSN {}", path, report.bytes(), report.lsn());
            outcome.success(new Made(path, report, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)));
        }
    }

    private Backups(@Nullable Path directory, Source source, Executor threads) {
        this.directories = directory == null ? null : new BackupDirectories(directory);
        this.source = source;
        this.threads = threads;
    }

    /** Creates an instance that copies a store to this directory; null disables backups. */
    public static Backups of(Source source, @Nullable Path directory) {
        return of(source, directory, Backups::onOwnThread);
    }

    /** Returns an instance that rejects every request, for a server without backups. */
    public static Backups none() {
        return of(
                (target, progress) -> {
                    throw new IllegalStateException("there is no store to copy to " + target);
                },
                null);
    }

    /** Creates an instance as {@link #of(Source, Path)} does, but runs each backup on this executor. */
    static Backups of(Source source, @Nullable Path directory, Executor threads) {
        return new Backups(directory, source, threads);
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
        BackupDirectories to = directories();
        checkName(name);
        if (to.exists(name)) {
            throw new BackupException(
                    Reason.BACKUP_EXISTS, to.of(name) + " already exists: choose another name, or remove it first");
        }
        Attempt attempt = new Attempt(name, to.of(name));
        Attempt before = latest.get();
        if (before != null && before.info.state() == State.RUNNING || !latest.compareAndSet(before, attempt)) {
            throw new BackupException(
                    Reason.BACKUP_IN_PROGRESS, "another backup is being made: try again when it is done");
        }
        try {
            threads.execute(() -> attempt.run(outcome));
        } catch (Throwable notStarted) {
            attempt.fail(notStarted);
            throw notStarted;
        }
    }

    private BackupDirectories directories() {
        if (directories == null) {
            throw new BackupException(Reason.NO_BACKUPS, "this server makes no backups: start it with --backup-dir");
        }
        return directories;
    }

    private static void checkName(String name) {
        if (!BackupDirectories.isName(name)) {
            throw new IllegalArgumentException("'" + DocumentName.printable(name)
                    + "' cannot be a backup's name: it has " + BackupDirectories.NAME_RULE);
        }
    }

    /** Returns the running backup, or null if none is running. */
    public @Nullable BackupInfo running() {
        BackupInfo info = recorded();
        return info == null || info.state() != State.RUNNING ? null : info;
    }

    /** Returns the backups in the directory, the running one, and the latest one if it has failed; newest first. */
    public List<BackupInfo> list() {
        BackupDirectories in = directories();
        BackupInfo recorded = recorded();
        Map<String, BackupInfo> found = in.list();
        if (recorded != null) {
            BackupInfo now = joined(recorded, found.remove(recorded.name()));
            if (now != null) {
                found.put(now.name(), now);
            }
        }
        List<BackupInfo> newestFirst = new ArrayList<>(found.values());
        newestFirst.sort(
                Comparator.comparingLong(BackupInfo::atMillis).reversed().thenComparing(BackupInfo::name));
        return newestFirst;
    }

    /** Returns the backup with this name; throws {@link BackupException} if there is none. */
    public BackupInfo find(String name) {
        BackupDirectories in = directories();
        checkName(name);
        BackupInfo recorded = recorded();
        BackupInfo found = in.find(name);
        BackupInfo now = recorded != null && recorded.name().equals(name) ? joined(recorded, found) : found;
        if (now == null) {
            throw new BackupException(Reason.NO_BACKUP, "there is no backup '" + name + "'");
        }
        return now;
    }

    /**
     * Returns the current state of the latest attempt, or null. Must be read before the directory: otherwise, a backup
     * that is renamed between the two reads could be missing from both.
     */
    private @Nullable BackupInfo recorded() {
        Attempt attempt = latest.get();
        return attempt == null ? null : attempt.info;
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
