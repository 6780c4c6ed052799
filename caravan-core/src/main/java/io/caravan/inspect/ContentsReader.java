package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreIoException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.checkpoint.CheckpointSections;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import io.caravan.io.FileStorage;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Reads the contents of a store that may be open or damaged. It reads the newest checkpoint, and finds single lists in
 * this checkpoint and the log after it. It takes no lock, writes nothing, and keeps at most the regions of one list (8
 * bytes each), one frame, and one value in memory.
 *
 * <p>In an open store, a value whose check fails may have moved. Values move only after another checkpoint has been
 * published; the reader then searches for the list again. Not thread-safe.
 */
public final class ContentsReader {
    private final Storage storage;
    private final SalvageIdentity identity;

    private ContentsReader(Storage storage) throws IOException {
        this.storage = storage;
        this.identity = SalvageIdentity.of(storage);
    }

    /**
     * Opens a store for reading. Another process may have the store open.
     *
     * @throws StoreDirectoryException if the store does not exist
     */
    public static ContentsReader open(Path directory) throws IOException {
        return open(FileStorage.readOnly(directory));
    }

    static ContentsReader open(Storage storage) throws IOException {
        return new ContentsReader(storage);
    }

    private ValueLocation place(long region, long nearLsn) {
        return identity.place(region, nearLsn, FileNames.LOG::of);
    }

    /** Visits the contents of the newest checkpoint in the order in which they appear in the file. */
    public void readCheckpoint(ContentsVisitor visitor) throws IOException {
        atNewest(number -> {
            try (StoreFile file = storage.open(FileNames.CHECKPOINT.of(number))) {
                readHeader(number, visitor);
                Sections sections = new Sections(file, visitor);
                new CheckpointSections(file, ListIndex.PARTITIONS, sections).visit();
                sections.end();
                return number;
            }
        });
    }

    private void readHeader(long number, ContentsVisitor visitor) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(storage, number)) {
            CheckpointHeader header = reader.header();
            visitor.checkpoint(
                    number, reader.path(), header.startLsn(), header.endLsn(), header.lists(), header.entries());
        } catch (CorruptStoreException damage) {
            visitor.damaged(damage);
        }
    }

    /**
     * Returns the position that the log must reach according to the newest checkpoint, or 0 if that checkpoint is
     * damaged.
     */
    public long neededLogEnd() throws IOException {
        return atNewest(number -> {
            try (CheckpointReader newest = new CheckpointReader(storage, number)) {
                return newest.header().endLsn();
            } catch (CorruptStoreException damaged) {
                return 0;
            }
        });
    }

    @FunctionalInterface
    private interface CheckpointRead {
        long read(long number) throws IOException;
    }

    /** Reads the newest checkpoint. Repeats the read if a newer checkpoint has replaced the file. */
    private long atNewest(CheckpointRead read) throws IOException {
        for (int attempt = 0; attempt < ListSearch.ATTEMPTS; attempt++) {
            long newest = ListSearch.newestCheckpoint(storage);
            if (newest < 0) {
                throw new StoreDirectoryException(storage.describe("") + " has no checkpoint");
            }
            try {
                return read.read(newest);
            } catch (NoSuchFileException replaced) {
                // A newer checkpoint has replaced the file.
            }
        }
        throw ListSearch.tooFast(storage);
    }

    private final class Sections implements CheckpointSections.Visitor {
        private final StoreFile file;
        private final ContentsVisitor visitor;
        private int lastPartition;
        private long captureLsn;
        private long id;
        private long sequence = -1;

        Sections(StoreFile file, ContentsVisitor visitor) {
            this.file = file;
            this.visitor = visitor;
        }

        @Override
        public void partition(int partition, long lsn) {
            lastPartition = partition;
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
                visitor.entry(list, sequence++, place(regions.getLong(at + i * Long.BYTES), captureLsn));
            }
        }

        @Override
        public void damaged(long offset, String problem) {
            visitor.damaged(new CorruptStoreException(file.path(), offset, problem));
        }

        void end() throws IOException {
            if (lastPartition < ListIndex.PARTITIONS - 1) {
                damaged(file.size(), "the sections after that of partition " + lastPartition + " are missing");
            }
        }
    }

    /**
     * Visits the state of one list, and each value that the list had at the time of the call and still has when the
     * value is read.
     *
     * @return false if the list does not exist
     * @throws StoreIoException if the store changes faster than it can be read
     */
    public boolean readList(long id, ContentsVisitor visitor) throws IOException {
        ListSearch search = new ListSearch(storage, id, visitor);
        SalvagedList list = search.find();
        if (list == null) {
            return false;
        }
        visitor.list(id, list.first(), list.next(), list.count(), list.bytes());
        long end = list.next();
        long creationLsn = list.creationLsn();
        long from = list.first();
        int attempts = 0;
        while (from < end && list != null && list.creationLsn() == creationLsn) {
            long read = readValues(id, list, from, end, search, visitor);
            attempts = read > from ? 0 : attempts + 1;
            if (attempts == ListSearch.ATTEMPTS) {
                throw ListSearch.tooFast(storage);
            }
            from = read;
            if (from < end) {
                visitor.moved(id, from);
                list = search.find();
            }
        }
        return true;
    }

    /**
     * Reads the values from {@code from} to {@code end}. Returns the sequence of the first value that was not read
     * because it may have moved, or {@code end}.
     */
    private long readValues(long id, SalvagedList list, long from, long end, ListSearch search, ContentsVisitor visitor)
            throws IOException {
        try (DamagedValues values = new DamagedValues(storage, this::place)) {
            list.forEach(new SalvagedList.EntryVisitor<IOException>() {
                @Override
                public void entry(long sequence, long region) throws IOException {
                    if (sequence >= from && sequence < end) {
                        readValue(id, list.creationLsn(), sequence, region, values, search, visitor);
                    }
                }

                @Override
                public void gap(long first, long last) {
                    if (last >= from && first < end) {
                        visitor.damaged(new CorruptStoreException(
                                storage.describe(search.checkpoint()),
                                0,
                                id,
                                first,
                                "the values up to sequence " + last
                                        + " are missing, because sections or frames are damaged"));
                    }
                }
            });
            return end;
        } catch (MovedException moved) {
            return moved.sequence;
        }
    }

    /** Thrown if the value to be read may have been moved. */
    private static final class MovedException extends IOException {
        private static final long serialVersionUID = 1L;

        private final long sequence;

        MovedException(long sequence) {
            this.sequence = sequence;
        }
    }

    private void readValue(
            long id,
            long creationLsn,
            long sequence,
            long region,
            DamagedValues values,
            ListSearch search,
            ContentsVisitor visitor)
            throws IOException {
        ByteBuffer value = values.read(region, id, creationLsn, sequence, search.nearLsn());
        ValueLocation place = place(region, search.nearLsn());
        if (value != null) {
            visitor.value(id, sequence, place, value);
        } else if (search.outdated()) {
            throw new MovedException(sequence);
        } else {
            visitor.damaged(new CorruptStoreException(
                    storage.describe(place.file()),
                    place.offset(),
                    id,
                    sequence,
                    "its bytes are missing, or differ from those that were written"));
        }
    }
}
