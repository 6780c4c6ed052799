package io.caravan.engine;

import io.caravan.StoreDirectoryException;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The files in a store's directory, by kind.
 *
 * @param logs numbers of log segments
 * @param heaps numbers of heap segments
 * @param checkpoints numbers of checkpoints
 * @param temporaries names of unfinished files
 */
record StoreFiles(TreeSet<Long> logs, TreeSet<Long> heaps, TreeSet<Long> checkpoints, List<String> temporaries) {
    /**
     * Names of entries that file systems create in the root of a volume. They do not belong to a store, and are
     * harmless.
     */
    private static final Set<String> IGNORED = Set.of("lost+found");

    /** Lists the files of a directory by kind. Rejects a directory with files that do not belong to a store. */
    static StoreFiles list(Storage storage) throws IOException {
        List<String> names = storage.list();
        List<String> unknown = names.stream()
                .filter(name -> !FileNames.isOurs(name) && !IGNORED.contains(name))
                .toList();
        if (unknown.contains(FileNames.SHARDS)) {
            throw new StoreDirectoryException(storage.describe("") + " contains the stores of several shards: name the"
                    + " directory of one, such as " + storage.describe(FileNames.shard(0)));
        }
        if (!unknown.isEmpty()) {
            throw new StoreDirectoryException(storage.describe(unknown.get(0)) + " is not a file of a store"
                    + (unknown.size() > 1 ? ", nor are " + (unknown.size() - 1) + " others in this directory" : "")
                    + "; move what is not Caravan's elsewhere, or name another directory");
        }
        return new StoreFiles(
                FileNames.LOG.numbers(names),
                FileNames.HEAP.numbers(names),
                FileNames.CHECKPOINT.numbers(names),
                names.stream().filter(FileNames::isTemporary).toList());
    }

    boolean none() {
        return logs.isEmpty() && heaps.isEmpty() && checkpoints.isEmpty();
    }
}
