package io.caravan.inspect;

import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.wal.LogGeometry;
import java.util.function.LongFunction;

/** Converts regions to files and offsets. */
final class Places {
    private final LogGeometry log;
    private final HeapGeometry heap;
    private final LongFunction<String> logFiles;

    /** Creates a converter. {@code logFiles} returns the file name of a log segment. */
    Places(SalvageIdentity identity, LongFunction<String> logFiles) {
        this.log = new LogGeometry(identity.logSegmentBytes());
        this.heap = new HeapGeometry(identity.heapSegmentBytes());
        this.logFiles = logFiles;
    }

    /**
     * Returns the place of a region's entry.
     *
     * @param nearLsn a position in the log, less than 1 TiB from the entry
     */
    Place of(long region, long nearLsn) {
        boolean inLog = Region.isInLog(region);
        long at = inLog ? Region.entryLsn(region, nearLsn) : Region.address(region);
        if (at < 0) {
            return new Place(inLog, "", -1, Region.length(region));
        }
        return inLog
                ? new Place(true, logFiles.apply(log.segmentOf(at)), log.offsetOf(at), Region.length(region))
                : new Place(false, FileNames.HEAP.of(heap.segmentOf(at)), heap.offsetOf(at), Region.length(region));
    }
}
