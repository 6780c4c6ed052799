package io.caravan.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reloads something when its files have changed. Looks at their times and sizes every {@value #PERIOD_SECONDS} seconds,
 * and acts when two looks in a row see the same change, so that files are not read while they are being written. What
 * cannot be read is tried again at each look, because a change of permissions shows in neither time nor size. Polling
 * works on every file system, and for files that are replaced, such as those mounted into containers.
 */
public final class FileWatch {
    private static final Logger LOG = LoggerFactory.getLogger(FileWatch.class);
    private static final int PERIOD_SECONDS = 2;

    private final Reloadable reloadable;
    private List<Stamp> inUse;
    private List<Stamp> seen;
    /** What went wrong at the last look, which is logged once; null when nothing did. */
    private @Nullable String failure;

    /** Something that is read from files. */
    public interface Reloadable {
        /** The files, which need not exist. */
        List<Path> files();

        /**
         * Reads the files again; changes nothing when it throws.
         *
         * @throws IOException when they cannot be read, or are wrong
         */
        void reload() throws IOException;
    }

    private record Stamp(
            FileTime modified, long bytes, @Nullable Object key) {}

    /** Starts from the files as they are: what is in use was read from them just now. */
    public FileWatch(Reloadable reloadable) {
        this.reloadable = reloadable;
        this.inUse = stamps();
        this.seen = inUse;
    }

    /** Looks every {@value #PERIOD_SECONDS} seconds, on a thread of the scheduler. */
    public void start(ScheduledExecutorService scheduler) {
        scheduler.scheduleWithFixedDelay(this::look, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
    }

    /** Looks once. */
    void look() {
        List<Stamp> now = stamps();
        boolean settled = now.equals(seen);
        seen = now;
        if (!settled || now.equals(inUse)) {
            return;
        }
        try {
            reloadable.reload();
            inUse = now;
            failure = null;
        } catch (IOException | RuntimeException wrong) {
            failed(wrong.toString());
        }
    }

    private void failed(String problem) {
        if (!problem.equals(failure)) {
            failure = problem;
            LOG.error(
                    "cannot use the new contents of {}; what was read before stays in use, and the files are tried again: {}",
                    reloadable.files(),
                    problem);
        }
    }

    private List<Stamp> stamps() {
        return reloadable.files().stream().map(FileWatch::stamp).toList();
    }

    private static Stamp stamp(Path file) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey());
        } catch (IOException missing) {
            // Reading it will say why.
            return new Stamp(FileTime.fromMillis(0), -1, null);
        }
    }
}
