package io.caravan.engine;

import io.caravan.StoreDirectoryException;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * The files of a directory, by kind.
 *
 * @param logs numbers of log segments
 * @param heaps numbers of heap segments
 * @param checkpoints numbers of checkpoints
 * @param temporaries names of files that were never finished
 */
record StoreFiles(TreeSet<Long> logs, TreeSet<Long> heaps, TreeSet<Long> checkpoints, List<String> temporaries) {
    /** Names that file systems create in the root of a volume. They are not part of a store, and harmless. */
    private static final Set<String> IGNORED = Set.of("lost+found");

    /** Lists a directory. Rejects a directory with files that do not belong to a store. */
    static StoreFiles list(Storage storage) throws IOException {
        StoreFiles files = new StoreFiles(new TreeSet<>(), new TreeSet<>(), new TreeSet<>(), new ArrayList<>());
        List<String> unknown = new ArrayList<>();
        for (String name : storage.list()) {
            if (!files.add(name) && !IGNORED.contains(name)) {
                unknown.add(name);
            }
        }
        if (unknown.contains(FileNames.GROUPS)) {
            throw new StoreDirectoryException(storage.describe("") + " holds the stores of several groups: name the"
                    + " folder of one, such as " + storage.describe(FileNames.group(0)));
        }
        if (!unknown.isEmpty()) {
            throw new StoreDirectoryException(storage.describe(unknown.get(0)) + " is not a file of a store"
                    + (unknown.size() > 1 ? ", nor are " + (unknown.size() - 1) + " others in this directory" : "")
                    + "; move what is not Caravan's elsewhere, or name another directory");
        }
        return files;
    }

    private boolean add(String name) {
        if (FileNames.isTemporary(name)) {
            return temporaries.add(name);
        }
        return name.equals(FileNames.FORCED_LSN)
                || addNumber(FileNames.LOG.number(name), logs)
                || addNumber(FileNames.HEAP.number(name), heaps)
                || addNumber(FileNames.CHECKPOINT.number(name), checkpoints);
    }

    private static boolean addNumber(OptionalLong number, Set<Long> numbers) {
        return number.isPresent() && numbers.add(number.getAsLong());
    }

    boolean none() {
        return logs.isEmpty() && heaps.isEmpty() && checkpoints.isEmpty();
    }
}
