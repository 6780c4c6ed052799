package io.caravan.testing;

import io.caravan.testing.FaultStorage.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The file names in a {@link CrashStorage}: the visible ones, those on the disk, and the changes between the two, in
 * order. Guarded by the monitor of the storage.
 */
final class CrashDirectory {

    /** A creation, renaming, or deletion of a file. */
    record Change(Kind kind, String name, String newName, CrashFile file) {
        void applyTo(Map<String, CrashFile> names) {
            if (kind != Kind.CREATE) {
                names.remove(name);
            }
            if (kind != Kind.DELETE) {
                names.put(newName, file);
            }
        }

        Change with(CrashFile other) {
            return new Change(kind, name, newName, other);
        }

        @Override
        public String toString() {
            String words = kind.name().toLowerCase(Locale.ROOT) + " " + name;
            return kind == Kind.RENAME ? words + " to " + newName : words;
        }
    }

    /** The visible names, in a deterministic order, so that the same calls always visit the files in the same order. */
    private Map<String, CrashFile> names;

    /** The names on the disk; the same map as {@link #names} if nothing has changed since the last fsync. */
    private Map<String, CrashFile> durableNames;

    private final List<Change> changes = new ArrayList<>();

    /** Creates a directory that contains these files, whose names are all durable. */
    CrashDirectory(Map<String, CrashFile> names) {
        this.names = names;
        this.durableNames = names;
    }

    /** Returns a copy of the directory as a kill of the process would leave it. */
    CrashDirectory afterKill() {
        Map<CrashFile, CrashFile> copies = new IdentityHashMap<>();
        UnaryOperator<CrashFile> copy = file -> copies.computeIfAbsent(file, CrashFile::afterKill);
        CrashDirectory left = new CrashDirectory(copied(durableNames, copy));
        for (Change change : changes) {
            left.change(change.with(copy.apply(change.file)));
        }
        return left;
    }

    private static Map<String, CrashFile> copied(Map<String, CrashFile> files, UnaryOperator<CrashFile> copy) {
        Map<String, CrashFile> copies = new LinkedHashMap<>(files);
        copies.replaceAll((name, file) -> copy.apply(file));
        return copies;
    }

    /** Returns the names on the disk after this many of the changes. */
    Map<String, CrashFile> namesAfter(int changesMade) {
        Map<String, CrashFile> left = new LinkedHashMap<>(durableNames);
        for (Change change : changes.subList(0, changesMade)) {
            change.applyTo(left);
        }
        return left;
    }

    /** Returns the changes to names since the last fsync of the directory, oldest first. */
    List<Change> changes() {
        return changes;
    }

    List<String> names() {
        return List.copyOf(names.keySet());
    }

    Collection<CrashFile> files() {
        return names.values();
    }

    @Nullable
    CrashFile file(String name) {
        return names.get(name);
    }

    void create(String name, CrashFile file) {
        change(new Change(Kind.CREATE, name, name, file));
    }

    void rename(String from, String to, CrashFile file) {
        change(new Change(Kind.RENAME, from, to, file));
    }

    void delete(String name, CrashFile file) {
        change(new Change(Kind.DELETE, name, name, file));
    }

    private void change(Change change) {
        if (names == durableNames) {
            names = new LinkedHashMap<>(durableNames);
        }
        change.applyTo(names);
        changes.add(change);
    }

    void force() {
        durableNames = names;
        changes.clear();
    }
}
