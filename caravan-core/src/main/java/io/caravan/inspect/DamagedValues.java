package io.caravan.inspect;

import io.caravan.format.EntryLayout;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads values from a damaged store. Any part of the store's files may be missing. */
final class DamagedValues implements AutoCloseable {
    /** Determines where a region's entry is stored; see {@link SalvageIdentity#place}. */
    @FunctionalInterface
    interface ValueLocations {
        ValueLocation of(long region, long nearLsn);
    }

    private final Storage storage;
    private final ValueLocations places;
    private final Set<String> there;
    private @Nullable StoreFile file;
    private String fileName = "";
    private String place = "";

    /** Creates a reader for the files that exist now. */
    DamagedValues(Storage storage, ValueLocations places) throws IOException {
        this.storage = storage;
        this.places = places;
        this.there = new HashSet<>(storage.list());
    }

    /** Returns the file and offset that were read last. */
    String place() {
        return place;
    }

    /** Returns the name of the file that was read last. */
    String fileName() {
        return fileName;
    }

    /**
     * Returns the value of an entry, or null if its bytes are missing or differ from those that were written.
     *
     * @param creationLsn the creation LSN of the list, or {@link SalvagedList#UNKNOWN} for an entry of a frame whose
     *     checksum was correct
     * @param nearLsn a position near the end of the log
     */
    @Nullable
    ByteBuffer read(long region, long id, long creationLsn, long sequence, long nearLsn) throws IOException {
        ValueLocation at = places.of(region, nearLsn);
        int length = at.length();
        ByteBuffer entry = bytes(at.file(), at.offset(), EntryLayout.entryBytes(length));
        if (entry == null || !checks(entry, length, id, creationLsn, sequence)) {
            return null;
        }
        return entry.slice(EntryLayout.VALUE, length);
    }

    private static boolean checks(ByteBuffer entry, int length, long id, long creationLsn, long sequence) {
        return creationLsn == SalvagedList.UNKNOWN
                ? entry.getInt(EntryLayout.LENGTH) == length
                : EntryLayout.valid(entry, 0, length, id, creationLsn, sequence);
    }

    private @Nullable ByteBuffer bytes(String name, int offset, int count) throws IOException {
        place = storage.describe(name) + " at offset " + offset;
        StoreFile source = offset < 0 ? null : open(name);
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
            file = there.contains(name) ? openIfThere(name) : null;
        }
        return file;
    }

    private @Nullable StoreFile openIfThere(String name) throws IOException {
        try {
            return storage.open(name);
        } catch (NoSuchFileException gone) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
