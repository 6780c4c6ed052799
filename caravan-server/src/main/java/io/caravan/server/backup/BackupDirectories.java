package io.caravan.server.backup;

import io.caravan.server.backup.BackupInfo.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The directory that contains one directory for each backup. Thread-safe; its methods wait for the disk. */
final class BackupDirectories {
    /** Matches one path element that is not hidden, and that commands do not mistake for an option. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,199}");

    /** The suffix of a backup's directory while the copy is incomplete. */
    private static final String PARTIAL = ".partial";

    private static final int MAX_LISTED = 1_000;

    /** The rule for backup names, for error messages. */
    static final String NAME_RULE = "1 to 200 letters, digits, '-', '_' and '.', starts with a letter, a digit or '_',"
            + " and does not end with " + PARTIAL;

    private final Path directory;

    BackupDirectories(Path directory) {
        this.directory = directory.toAbsolutePath();
    }

    static boolean isName(String name) {
        return NAME.matcher(name).matches() && !name.endsWith(PARTIAL);
    }

    Path of(String name) {
        return directory.resolve(name);
    }

    boolean exists(String name) {
        return Files.exists(of(name), LinkOption.NOFOLLOW_LINKS);
    }

    /** Returns the complete or incomplete backup with this name, or null if there is none. */
    @Nullable
    BackupInfo find(String name) {
        try {
            BackupInfo whole = backup(of(name));
            return whole == null ? backup(of(name + PARTIAL)) : whole;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Returns up to {@value #MAX_LISTED} complete or incomplete backups in the directory, by name. */
    Map<String, BackupInfo> list() {
        Map<String, BackupInfo> found = new HashMap<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                BackupInfo backup = found.size() < MAX_LISTED ? backup(entry) : null;
                if (backup != null) {
                    found.merge(backup.name(), backup, (one, other) -> one.state() == State.COMPLETE ? one : other);
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (DirectoryIteratorException unreadable) {
            throw new UncheckedIOException(unreadable.getCause());
        }
        return found;
    }

    /** Returns the backup in this directory, or null if it is not a backup or has been removed. */
    private @Nullable BackupInfo backup(Path entry) throws IOException {
        String file = entry.getFileName().toString();
        boolean whole = !file.endsWith(PARTIAL);
        String name = whole ? file : file.substring(0, file.length() - PARTIAL.length());
        if (!isName(name) || !Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            return null;
        }
        try {
            long atMillis = Files.getLastModifiedTime(entry).toMillis();
            State state = whole ? State.COMPLETE : State.ABANDONED;
            return new BackupInfo(name, of(name), state, atMillis, bytes(entry), 0, null, null);
        } catch (NoSuchFileException removed) {
            return null;
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
}
