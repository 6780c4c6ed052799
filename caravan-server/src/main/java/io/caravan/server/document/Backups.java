package io.caravan.server.document;

import io.caravan.BackupReport;
import io.caravan.CaravanException;
import io.caravan.StoreClosedException;
import io.caravan.catalog.DocumentName;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Copies the open store into folders of one directory, for operators: one copy at a time, on a thread of its own. For
 * any thread.
 */
public final class Backups implements AutoCloseable {
    /** One element of a path, which is no hidden file, and not what {@code ls} takes for an option. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,199}");

    /** The end of a folder's name while its copy is not whole. */
    private static final String PARTIAL = ".partial";

    private final @Nullable Path directory;
    private final @Nullable Source source;
    private final Executor threads;
    private final AtomicReference<@Nullable Attempt> running = new AtomicReference<>();
    private volatile boolean closed;

    /** A store that can be copied while it is open. */
    @FunctionalInterface
    public interface Source {
        /**
         * Copies it to a folder that does not exist or is empty; it is whole and durable when this returns.
         *
         * @throws CaravanException when it cannot be copied; then nothing is left of the copy
         */
        BackupReport backup(Path target, BackupReport.Progress progress);
    }

    /**
     * A copy that was made.
     *
     * @param path its folder
     * @param report what it has
     * @param millis how long it took
     */
    public record Made(Path path, BackupReport report, long millis) {}

    /**
     * How far a backup is that is being made.
     *
     * @param doneBytes copied so far
     * @param totalBytes there are to copy; 0 before it is known, and growing with the log, which is copied last
     */
    public record Underway(long doneBytes, long totalBytes) {}

    /** A backup that is being made: its thread notes how far it is, and ends it when the server stops. */
    private final class Attempt implements BackupReport.Progress {
        private volatile Underway underway = new Underway(0, 0);

        @Override
        public void at(long done, long total) {
            underway = new Underway(done, total);
            if (closed) {
                throw new StoreClosedException("the server is stopping: its store");
            }
        }
    }

    private Backups(@Nullable Path directory, @Nullable Source source, Executor threads) {
        this.directory = directory;
        this.source = source;
        this.threads = threads;
    }

    /**
     * Backups of a store.
     *
     * @param directory where they go, or null when nobody may make any
     */
    public static Backups of(Source source, @Nullable Path directory) {
        return of(source, directory, Backups::onOwnThread);
    }

    /** No backups: each is refused. */
    public static Backups none() {
        return new Backups(null, null, Backups::onOwnThread);
    }

    /** As {@link #of(Source, Path)}; each backup is given to these threads. */
    static Backups of(Source source, @Nullable Path directory, Executor threads) {
        return new Backups(directory == null ? null : directory.toAbsolutePath(), source, threads);
    }

    private static void onOwnThread(Runnable backup) {
        Thread thread = new Thread(backup, "caravan-backup");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Starts a backup.
     *
     * @param name of its folder
     * @param outcome is told on the backup's thread
     * @throws IllegalArgumentException when the name cannot be a folder's here
     * @throws IllegalStateException when there is no directory for backups, or another one is being made; the
     *     message says what to do
     */
    public void start(String name, Outcome<Made> outcome) {
        if (directory == null || source == null) {
            throw new IllegalStateException("this server makes no backups: start it with --backup-dir");
        }
        if (!NAME.matcher(name).matches() || name.endsWith(PARTIAL)) {
            throw new IllegalArgumentException(
                    "'" + DocumentName.printable(name) + "' cannot be a backup's name: it has"
                            + " 1 to 200 letters, digits, '-', '_' and '.', starts with a letter, a digit or '_', and does not"
                            + " end with " + PARTIAL);
        }
        Attempt attempt = new Attempt();
        if (!running.compareAndSet(null, attempt)) {
            throw new IllegalStateException("another backup is being made: try again when it is done");
        }
        Source from = source;
        Path target = directory.resolve(name);
        boolean begun = false;
        try {
            threads.execute(() -> run(from, target, attempt, outcome));
            begun = true;
        } finally {
            if (!begun) {
                running.set(null);
            }
        }
    }

    private void run(Source from, Path target, Attempt attempt, Outcome<Made> outcome) {
        Made made;
        try {
            made = copy(from, target, attempt);
        } catch (RuntimeException problem) {
            outcome.failure(problem);
            return;
        } catch (Error broken) {
            outcome.failure(new IllegalStateException("the backup has failed: " + broken, broken));
            throw broken;
        }
        outcome.success(made);
    }

    /** Whoever is told of the end may begin the next one at once. */
    private Made copy(Source from, Path target, Attempt attempt) {
        long start = System.nanoTime();
        try {
            BackupReport report = from.backup(target, attempt);
            return new Made(target, report, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        } finally {
            running.set(null);
        }
    }

    /** How far the backup is that is being made, or null when there is none. */
    public @Nullable Underway underway() {
        Attempt attempt = running.get();
        return attempt == null ? null : attempt.underway;
    }

    /** Has a backup that is being made end, and leave nothing. */
    @Override
    public void close() {
        closed = true;
    }
}
