package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreIoException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import io.caravan.io.FileStorage;
import io.caravan.io.Storage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.SortedSet;

/**
 * Reads the contents of a store that may be open or damaged. It reads the newest checkpoint, and finds single lists in
 * this checkpoint and the log after it. It takes no lock, writes nothing, and keeps at most the regions of one list (8
 * bytes each), one frame, and one value in memory.
 *
 * <p>In an open store, a value whose check fails may have moved. Values move only after another checkpoint has been
 * published; the reader then searches for the list again. Not thread-safe.
 */
public final class ContentsReader {
    /** Number of attempts to read a store that is changing; each attempt starts from the newest checkpoint. */
    static final int ATTEMPTS = 8;

    private final DamagedFiles files;

    ContentsReader(DamagedFiles files) {
        this.files = files;
    }

    /**
     * Opens a store for reading. Another process may have the store open.
     *
     * @throws StoreDirectoryException if the store does not exist
     */
    public static ContentsReader open(Path directory) throws IOException {
        return new ContentsReader(new DamagedFiles(FileStorage.readOnly(directory)));
    }

    static StoreIoException tooFast(Storage storage) {
        String message =
                storage.describe("") + " changes faster than it can be read; try again, or read a backup of it";
        return new StoreIoException(message, new IOException(message));
    }

    /** Visits the contents of the newest checkpoint in the order in which they appear in the file. */
    public void readCheckpoint(StoreVisitor visitor) throws IOException {
        try (CheckpointReader reader = openNewest()) {
            try {
                CheckpointHeader header = reader.header();
                visitor.checkpoint(
                        header.number(),
                        reader.path(),
                        header.startLsn(),
                        header.endLsn(),
                        header.lists(),
                        header.entries());
            } catch (CorruptStoreException damage) {
                visitor.damaged(damage);
            }
            Sections sections = new Sections(visitor);
            reader.readDamaged(ListIndex.PARTITIONS, sections);
            if (sections.partition < ListIndex.PARTITIONS - 1) {
                visitor.damaged(new CorruptStoreException(
                        reader.path(),
                        reader.fileBytes(),
                        "the sections after that of partition " + sections.partition + " are missing"));
            }
        }
    }

    /**
     * Returns the position that the log must reach according to the newest checkpoint, or 0 if that checkpoint is
     * damaged.
     */
    public long neededLogEnd() throws IOException {
        try (CheckpointReader reader = openNewest()) {
            return reader.header().endLsn();
        } catch (CorruptStoreException damaged) {
            return 0;
        }
    }

    private CheckpointReader openNewest() throws IOException {
        Storage storage = files.storage;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            SortedSet<Long> numbers = FileNames.CHECKPOINT.numbers(storage.list());
            if (numbers.isEmpty()) {
                throw new StoreDirectoryException(storage.describe("") + " has no checkpoint");
            }
            try {
                return new CheckpointReader(storage, numbers.last());
            } catch (NoSuchFileException replaced) {
                // A newer checkpoint has replaced the file.
            }
        }
        throw tooFast(storage);
    }

    private final class Sections implements CheckpointReader.Visitor {
        private final StoreVisitor visitor;
        private int partition;
        private long captureLsn;
        private long id;
        private long sequence = -1;

        Sections(StoreVisitor visitor) {
            this.visitor = visitor;
        }

        @Override
        public void partition(int number, long lsn) {
            partition = number;
            captureLsn = lsn;
        }

        @Override
        public void piece(long list, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
            boolean continues = list == id && sequence > first && sequence < next;
            id = list;
            sequence = continues ? sequence : first;
            long bytes = 0;
            for (int i = 0; i < count; i++) {
                bytes += Region.length(regions.getLong(at + i * Long.BYTES));
            }
            visitor.list(list, first, next, count, bytes);
            for (int i = 0; i < count; i++) {
                visitor.entry(list, sequence++, files.place(regions.getLong(at + i * Long.BYTES), captureLsn));
            }
        }

        @Override
        public void damaged(CorruptStoreException damage) {
            visitor.damaged(damage);
        }
    }

    /**
     * Visits the state of one list, and each value that the list had at the time of the call and still has when the
     * value is read.
     *
     * @return false if the list does not exist
     * @throws StoreIoException if the store changes faster than it can be read
     */
    public boolean readList(long id, StoreVisitor visitor) throws IOException {
        FoundList found = FoundList.find(files, id, visitor);
        SalvagedList list = found.list();
        if (list == null) {
            return false;
        }
        visitor.list(id, list.first(), list.next(), list.count(), list.bytes());
        long end = list.next();
        long creationLsn = list.creationLsn;
        long from = list.first();
        int attempts = 0;
        while (from < end && list != null && list.creationLsn == creationLsn) {
            long read = found.readValues(list, from, end, visitor);
            attempts = read > from ? 0 : attempts + 1;
            if (attempts == ATTEMPTS) {
                throw tooFast(files.storage);
            }
            from = read;
            if (from < end) {
                visitor.moved(id, from);
                found = FoundList.find(files, id, visitor);
                list = found.list();
            }
        }
        return true;
    }
}
