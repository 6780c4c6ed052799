package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.CheckpointLayout;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** The id and the segment sizes of a damaged store, according to the majority of the intact file headers. */
record SalvageIdentity(long storeId, int logSegmentBytes, int heapSegmentBytes) {
    private static final int DEFAULT_BYTES = 64 << 20;

    static SalvageIdentity of(Storage storage) throws IOException {
        Map<Long, Integer> ids = new HashMap<>();
        List<Long> logSizes = new ArrayList<>();
        List<Long> heapSizes = new ArrayList<>();
        for (String name : storage.list()) {
            count(storage, name, FileNames.LOG, FileHeader.Kind.LOG_SEGMENT, ids, logSizes);
            count(storage, name, FileNames.HEAP, FileHeader.Kind.HEAP_SEGMENT, ids, heapSizes);
            count(storage, name, FileNames.CHECKPOINT, FileHeader.Kind.CHECKPOINT, ids, logSizes);
        }
        long storeId = ids.entrySet().stream()
                .max(Comparator.comparingInt(Map.Entry::getValue))
                .orElseThrow(() -> new StoreDirectoryException(
                        storage.describe("") + " has no file whose header is that of a store's"))
                .getKey();
        return new SalvageIdentity(storeId, most(logSizes), most(heapSizes));
    }

    private static void count(
            Storage storage,
            String name,
            FileNames names,
            FileHeader.Kind kind,
            Map<Long, Integer> ids,
            List<Long> sizes) {
        FileHeader.Fields fields = names.number(name).isPresent() ? fields(storage, name, kind) : null;
        if (fields != null && Blocks.isSegmentSize(fields.segmentBytes())) {
            ids.merge(fields.storeId(), 1, Integer::sum);
            sizes.add(fields.segmentBytes());
        }
    }

    private static int most(List<Long> sizes) {
        Map<Long, Integer> counts = new HashMap<>();
        sizes.forEach(size -> counts.merge(size, 1, Integer::sum));
        return counts.entrySet().stream()
                .max(Comparator.comparingInt(Map.Entry::getValue))
                .map(found -> found.getKey().intValue())
                .orElse(DEFAULT_BYTES);
    }

    /**
     * Returns the file and offset of the entry to which a region refers.
     *
     * @param nearLsn a position in the log, less than 1 TiB from the entry
     * @param logFiles returns the file name of a log segment
     */
    ValueLocation place(long region, long nearLsn, LongFunction<String> logFiles) {
        boolean inLog = Region.isInLog(region);
        int length = Region.length(region);
        long at = inLog ? Region.entryLsn(region, nearLsn) : Region.address(region);
        if (at < 0) {
            return new ValueLocation(inLog, "", -1, length);
        }
        LogGeometry log = new LogGeometry(logSegmentBytes);
        HeapGeometry heap = new HeapGeometry(heapSegmentBytes);
        return inLog
                ? new ValueLocation(true, logFiles.apply(log.segmentOf(at)), log.offsetOf(at), length)
                : new ValueLocation(false, FileNames.HEAP.of(heap.segmentOf(at)), heap.offsetOf(at), length);
    }

    /** Returns a file's header; null if the header is damaged or unreadable, or if an open store removed the file. */
    static FileHeader.@Nullable Fields fields(Storage storage, String name, FileHeader.Kind kind) {
        ByteBuffer bytes = ByteBuffer.allocate(CheckpointLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (StoreFile file = storage.open(name)) {
            file.read(bytes, 0);
            return FileHeader.get(bytes.flip(), kind, file.path());
        } catch (CaravanException | IOException unreadable) {
            return null;
        }
    }
}
