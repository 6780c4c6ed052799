package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStore.Listed;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Lists a directory's files in the order of their keys. A directory sorts as its name followed by a slash, because all
 * keys in it start with these characters.
 *
 * <p>A file system returns names in no particular order. To limit memory, this class keeps only the lowest names of a
 * directory that it has not listed yet, up to a limit. It therefore reads a larger directory several times. Files that
 * are added or removed during the listing may be omitted.
 */
final class DirectoryListing {
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
