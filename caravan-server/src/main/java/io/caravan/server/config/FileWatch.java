package io.caravan.server.config;

import io.caravan.io.FileStorage;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An object that is read from files, and read again when they change. Once {@link #watch} has been called, checks the
 * modification times and sizes every {@value #PERIOD_SECONDS} seconds. It reloads the object when two consecutive
 * checks find the same change, so that it does not read files that are still being written.
 *
 * <p>A failed reload is retried at each check, because a change to a file's permissions affects neither its time nor
 * its size. Polling works on every file system, and for files that are replaced, such as those mounted into containers.
 */
public abstract class FileWatch {
    private static final Logger LOG = LoggerFactory.getLogger(FileWatch.class);
    private static final int PERIOD_SECONDS = 2;

    private final List<Path> files;
    private List<Stamp> inUse;
    private List<Stamp> seen;
    /** The failure of the last check, which is logged once; null if the check succeeded. */
    private @Nullable String failure;

    private record Stamp(
            FileTime modified, long bytes, @Nullable Object key) {}

    /**
     * Creates the object, which must read its files only afterwards: a change from now on is found even if it happens
     * before {@link #watch} is called.
     *
     * @param files the files, which need not exist
     */
    protected FileWatch(List<Path> files) {
        this.files = files;
        this.inUse = stamps();
        this.seen = inUse;
    }

    protected final List<Path> files() {
        return files;
    }

    /** Reads the files again; changes nothing if it throws. */
    public abstract void reload() throws IOException;

    /** Watches the files, if there are any, until the JVM ends. */
    public final void watch() {
        if (!files.isEmpty()) {
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-watch", true))
                    .scheduleWithFixedDelay(this::check, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
        }
    }

    final void check() {
        List<Stamp> now = stamps();
        boolean settled = now.equals(seen);
        seen = now;
        if (!settled || now.equals(inUse)) {
            return;
        }
        try {
            reload();
            inUse = now;
            failure = null;
        } catch (IOException | RuntimeException | Error wrong) {
            String problem = wrong instanceof IOException failed ? FileStorage.problem(failed) : wrong.toString();
            if (!problem.equals(failure)) {
                failure = problem;
                LOG.error(
                        "cannot use the new contents of '{}'; the previous contents stay in use, and the files are read again later: {}",
                        files.stream().map(Path::toString).collect(Collectors.joining("', '")),
                        problem);
            }
        }
    }

    private List<Stamp> stamps() {
        return files.stream().map(FileWatch::stamp).toList();
    }

    private static Stamp stamp(Path file) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey());
        } catch (IOException missing) {
            // The reload will report the reason.
            return new Stamp(FileTime.fromMillis(0), -1, null);
        }
    }
}
