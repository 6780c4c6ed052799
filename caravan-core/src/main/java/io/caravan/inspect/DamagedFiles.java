package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files of a store that may be open or damaged. Any file, or part of a file, may be missing. The store's id and
 * segment sizes are those in most of the intact file headers. Keeps the file open that was read last.
 */
final class DamagedFiles implements AutoCloseable {
    private static final int DEFAULT_SEGMENT_BYTES = 64 << 20;

    final Storage storage;
    final long storeId;
    final LogGeometry log;
    final HeapGeometry heap;
    /** The names of the log segments' files, if they have been found; see {@link #setLogName}. */
    private final Map<Long, String> logNames = new HashMap<>();

    private @Nullable AccessDeniedException denied;
    private @Nullable StoreFile file;
    private String fileName = "";
    /** The reason why the value that was read last is unreadable, in parentheses, or an empty string. */
    String unreadable = "";

    /** Reads the headers of all files; throws {@link AccessDeniedException} if this user may read none of them. */
    DamagedFiles(Storage storage) throws IOException {
        this.storage = storage;
        Map<Long, Integer> ids = new HashMap<>();
        Map<Long, Integer> logSizes = new HashMap<>();
        Map<Long, Integer> heapSizes = new HashMap<>();
        for (String name : storage.list()) {
            for (FileNames kind : FileNames.values()) {
                FileHeader.Fields fields = kind.number(name).isPresent() ? header(name, kind) : null;
                if (fields != null && Blocks.isSegmentSize(fields.segmentBytes())) {
                    ids.merge(fields.storeId(), 1, Integer::sum);
                    (kind == FileNames.HEAP ? heapSizes : logSizes).merge(fields.segmentBytes(), 1, Integer::sum);
                }
            }
        }
        if (ids.isEmpty() && denied != null) {
            throw denied;
        }
        if (ids.isEmpty()) {
            throw new StoreDirectoryException(storage.describe("") + " has no file whose header is that of a store's");
        }
        storeId = mostFrequent(ids, 0);
        log = new LogGeometry((int) mostFrequent(logSizes, DEFAULT_SEGMENT_BYTES));
        heap = new HeapGeometry((int) mostFrequent(heapSizes, DEFAULT_SEGMENT_BYTES));
    }

    private static long mostFrequent(Map<Long, Integer> counts, long otherwise) {
        return counts.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(otherwise);
    }

    /** Returns a file's header; null if the header is damaged or unreadable, or if an open store removed the file. */
    FileHeader.@Nullable Fields header(String name, FileNames kind) {
        ByteBuffer bytes = ByteBuffer.allocate(FileHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (StoreFile source = storage.open(name)) {
            source.read(bytes, 0);
            return FileHeader.get(bytes.flip(), kind.letters(), source.path());
        } catch (AccessDeniedException problem) {
            denied = problem;
            return null;
        } catch (CaravanException | IOException unreadable) {
            return null;
        }
    }

    /** Returns the path of a log segment's file. */
    String describe(long segment) {
        return storage.describe(logName(segment));
    }

    private String logName(long segment) {
        return logNames.getOrDefault(segment, FileNames.LOG.of(segment));
    }

    /** Records that this file contains or contained a log segment. */
    void setLogName(long segment, String name) {
        logNames.putIfAbsent(segment, name);
    }

    /** Returns the file of a log segment, or null if it does not exist. */
    @Nullable
    StoreFile segment(long segment) throws IOException {
        StoreFile found = open(logName(segment));
        if (found == null) {
            // The next call looks again, because the log may grow.
            close();
        }
        return found;
    }

    private @Nullable StoreFile open(String name) throws IOException {
        if (!name.equals(fileName)) {
            close();
            try {
                file = storage.open(name);
            } catch (NoSuchFileException missing) {
                file = null;
            }
            fileName = name;
        }
        return file;
    }

    /**
     * Returns the place of the entry to which a region refers.
     *
     * @param nearLsn a position in the log, less than 1 TiB from the entry
     */
    ValueLocation place(long region, long nearLsn) {
        boolean inLog = Region.isInLog(region);
        int length = Region.length(region);
        long at = inLog ? Region.entryLsn(region, nearLsn) : Region.address(region);
        if (at < 0) {
            return new ValueLocation(inLog, "", -1, length);
        }
        return inLog
                ? new ValueLocation(true, logName(log.segmentOf(at)), log.offsetOf(at), length)
                : new ValueLocation(false, FileNames.HEAP.of(heap.segmentOf(at)), heap.offsetOf(at), length);
    }

    /**
     * Returns the value of the entry at a place, or null if its bytes are missing or differ from those that were
     * written.
     *
     * @param creationLsn the creation LSN of the list, or {@link SalvagedList#UNKNOWN} for an entry of a frame whose
     *     checksum was correct
     */
    @Nullable
    ByteBuffer value(ValueLocation at, long id, long creationLsn, long sequence) throws IOException {
        int length = at.length();
        unreadable = "";
        StoreFile source = at.offset() < 0 ? null : open(at.file());
        if (source == null || source.size() - at.offset() < EntryLayout.entryBytes(length)) {
            return null;
        }
        ByteBuffer entry = ByteBuffer.allocate(EntryLayout.entryBytes(length)).order(ByteOrder.LITTLE_ENDIAN);
        try {
            source.read(entry, at.offset());
        } catch (IOException failed) {
            unreadable = " (" + failed.getMessage() + ")";
            return null;
        }
        boolean valid = !entry.hasRemaining()
                && (creationLsn == SalvagedList.UNKNOWN
                        ? entry.getInt(EntryLayout.LENGTH) == length
                        : EntryLayout.valid(entry, 0, length, id, creationLsn, sequence));
        return valid ? entry.slice(EntryLayout.VALUE, length) : null;
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
            file = null;
        }
        fileName = "";
    }
}
