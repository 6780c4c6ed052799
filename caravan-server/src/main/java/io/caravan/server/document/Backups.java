package io.caravan.server.document;

import io.caravan.BackupReport;
import io.caravan.CaravanException;
import io.caravan.StoreClosedException;
import io.caravan.catalog.DocumentName;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
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
    private final AtomicBoolean running = new AtomicBoolean();
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

    private Backups(@Nullable Path directory, @Nullable Source source) {
        this.directory = directory;
        this.source = source;
    }

    /**
     * Backups of a store.
     *
     * @param directory where they go, or null when nobody may make any
     */
    public static Backups of(Source source, @Nullable Path directory) {
        return new Backups(directory == null ? null : directory.toAbsolutePath(), source);
    }

    /** No backups: each is refused. */
    public static Backups none() {
        return new Backups(null, null);
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
        if (!running.compareAndSet(false, true)) {
            throw new IllegalStateException("another backup is being made: try again when it is done");
        }
        Source from = source;
        Path target = directory.resolve(name);
        Thread thread = new Thread(() -> run(from, target, outcome), "caravan-backup");
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Source from, Path target, Outcome<Made> outcome) {
        long start = System.nanoTime();
        Made made;
        try {
            BackupReport report = from.backup(target, (done, total) -> checkOpen());
            made = new Made(target, report, (System.nanoTime() - start) / 1_000_000);
        } catch (RuntimeException problem) {
            running.set(false);
            outcome.failure(problem);
            return;
        }
        running.set(false);
        outcome.success(made);
    }

    private void checkOpen() {
        if (closed) {
            throw new StoreClosedException("the server is stopping: its store");
        }
    }

    /** Has a backup that is being made end, and leave nothing. */
    @Override
    public void close() {
        closed = true;
    }
}
