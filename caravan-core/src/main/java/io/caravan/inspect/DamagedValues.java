package io.caravan.inspect;

import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads values of a damaged store from files of which any part may be missing. */
final class DamagedValues implements AutoCloseable {
    private final Storage storage;
    private final DamagedLog log;
    private final LogGeometry logGeometry;
    private final HeapGeometry heapGeometry;
    private final Set<String> there;
    private @Nullable StoreFile file;
    private String fileName = "";
    private String place = "";

    DamagedValues(Storage storage, DamagedLog log, SalvageIdentity identity) throws IOException {
        this.storage = storage;
        this.log = log;
        this.logGeometry = new LogGeometry(identity.logSegmentBytes());
        this.heapGeometry = new HeapGeometry(identity.heapSegmentBytes());
        this.there = new HashSet<>(storage.list());
    }

    /** The file and offset that was read last. */
    String place() {
        return place;
    }

    /** The file that was read last. */
    String fileName() {
        return fileName;
    }

    /**
     * Returns the value of an entry; null when its bytes are not there, or not those that were written.
     *
     * @param birth the list's, or {@link SalvagedList#UNKNOWN} for an entry of a frame whose checksum was right
     * @param nearLsn where the log ends, about
     */
    @Nullable
    ByteBuffer read(long region, long id, long birth, long sequence, long nearLsn) throws IOException {
        boolean inLog = Region.isInLog(region);
        long at = inLog ? Region.entryLsn(region, nearLsn) : Region.address(region);
        if (at < 0) {
            return null;
        }
        String name = inLog ? log.fileOf(logGeometry.segmentOf(at)) : FileNames.HEAP.of(heapGeometry.segmentOf(at));
        int offset = inLog ? logGeometry.offsetOf(at) : heapGeometry.offsetOf(at);
        ByteBuffer entry = bytes(name, offset, Region.entryBytes(region));
        int length = Region.length(region);
        if (entry == null || !checks(entry, length, id, birth, sequence)) {
            return null;
        }
        return entry.slice(EntryLayout.VALUE, length);
    }

    private static boolean checks(ByteBuffer entry, int length, long id, long birth, long sequence) {
        return birth == SalvagedList.UNKNOWN
                ? entry.getInt(EntryLayout.LENGTH) == length
                : EntryLayout.valid(entry, 0, length, id, birth, sequence);
    }

    private @Nullable ByteBuffer bytes(String name, int offset, int count) throws IOException {
        place = storage.describe(name) + " at offset " + offset;
        StoreFile source = open(name);
        if (source == null || source.size() - offset < count) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        try {
            return source.read(bytes, offset) == count ? bytes : null;
        } catch (IOException unreadable) {
            place += " (" + unreadable.getMessage() + ")";
            return null;
        }
    }

    private @Nullable StoreFile open(String name) throws IOException {
        if (!name.equals(fileName)) {
            close();
            fileName = name;
            file = there.contains(name) ? storage.open(name) : null;
        }
        return file;
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
