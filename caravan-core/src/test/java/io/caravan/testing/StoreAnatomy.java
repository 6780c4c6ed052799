package io.caravan.testing;

import io.caravan.ListInfo;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntConsumer;

/**
 * The places of all checkpoints, frames, and entries in an intact store's files, found by the store's own readers.
 *
 * @param checkpoints the headers of the checkpoints, oldest first
 * @param frames the frames of the log, from the first one that the oldest checkpoint needs
 * @param logEnd the LSN of the next frame
 * @param entries the live values in the heap
 */
public record StoreAnatomy(
        List<CheckpointHeader> checkpoints, List<Frame> frames, long logEnd, List<HeapEntry> entries) {

    /** The place of a frame, including its header, and the frame's LSN. */
    public record Frame(String file, int offset, int bytes, long lsn) {
        public int end() {
            return offset + bytes;
        }
    }

    /** The place of a live value in the heap, starting at its checksum, and the list and sequence of the value. */
    public record HeapEntry(String file, int offset, int length, long address, long id, long sequence) {}

    /** Analyzes the files of an intact store. */
    public static StoreAnatomy of(DirectoryImage image) throws IOException {
        List<CheckpointHeader> checkpoints = checkpointsOf(image);
        CheckpointHeader oldest = checkpoints.get(0);
        LogGeometry geometry = new LogGeometry(oldest.logSegmentBytes());
        List<Frame> frames = new ArrayList<>();
        LogScanner.End end;
        try (LogSegments log = new LogSegments(new MemoryStorage(image), geometry, oldest.storeId())) {
            for (String name : image.names("log-")) {
                log.open(FileNames.LOG.number(name).getAsLong());
            }
            end = new LogScanner(log)
                    .scan(
                            oldest.startLsn(),
                            oldest.previous(),
                            new LogScanner.ProvenEnd(oldest.endLsn(), "the oldest checkpoint"),
                            OptionalLong.empty(),
                            false,
                            (segment, at, lsn) -> {
                                int bytes = FrameLayout.HEADER_BYTES + segment.getInt(at + FrameLayout.PAYLOAD_BYTES);
                                frames.add(new Frame(
                                        FileNames.LOG.of(geometry.segmentOf(lsn)), geometry.offsetOf(lsn), bytes, lsn));
                            });
        }
        return new StoreAnatomy(checkpoints, frames, end.position(), entriesOf(image));
    }

    private static List<CheckpointHeader> checkpointsOf(DirectoryImage image) throws IOException {
        List<CheckpointHeader> headers = new ArrayList<>();
        for (String name : image.names("checkpoint-")) {
            long number = FileNames.CHECKPOINT.number(name).getAsLong();
            try (CheckpointReader reader = new CheckpointReader(new MemoryStorage(image), number)) {
                headers.add(reader.header());
            }
        }
        return headers;
    }

    private static List<HeapEntry> entriesOf(DirectoryImage image) throws IOException {
        List<HeapEntry> entries = new ArrayList<>();
        try (Recovered recovered = new Recovery(new MemoryStorage(image)).recover()) {
            HeapGeometry geometry = recovered.heapFile().geometry();
            ListIndex index = recovered.index();
            forEachList(index, list -> {
                long[] regions = regionsOf(index, list);
                for (int i = 0; i < regions.length && !Region.isInLog(regions[i]); i++) {
                    long address = Region.address(regions[i]);
                    entries.add(new HeapEntry(
                            FileNames.HEAP.of(geometry.segmentOf(address)),
                            geometry.offsetOf(address),
                            Region.length(regions[i]),
                            address,
                            index.id(list),
                            index.first(list) + i));
                }
            });
        }
        return entries;
    }

    /** Reads and checks every entry. Returns the contents that a store in this state would report. */
    public static StoreContents contentsOf(Recovered recovered) {
        SortedMap<Long, StoreContents.ListContents> lists = new TreeMap<>();
        ListIndex index = recovered.index();
        forEachList(index, list -> {
            long id = index.id(list);
            long first = index.first(list);
            long[] regions = regionsOf(index, list);
            List<Value> values = new ArrayList<>();
            long bytes = 0;
            for (int i = 0; i < regions.length; i++) {
                var value = recovered.read(regions[i], id, index.creationLsn(list), first + i);
                bytes += value.remaining();
                values.add(new Value(first + i, value));
            }
            lists.put(id, new StoreContents.ListContents(new ListInfo(id, first, index.next(list), bytes), values));
        });
        return new StoreContents(lists);
    }

    /** Calls the action with the handle of each list. */
    public static void forEachList(ListIndex index, IntConsumer action) {
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            index.forEachList(partition, action);
        }
    }

    /** Returns the regions of the retained entries of a list. */
    public static long[] regionsOf(ListIndex index, int list) {
        long[] regions = new long[(int) (index.next(list) - index.first(list))];
        if (regions.length > 0) {
            ListCursor cursor = new ListCursor();
            index.seek(list, index.first(list), cursor);
            index.copyRegions(cursor, regions, 0, regions.length);
        }
        return regions;
    }

    public CheckpointHeader newest() {
        return checkpoints.get(checkpoints.size() - 1);
    }

    public Frame lastFrame() {
        return frames.get(frames.size() - 1);
    }

    /** Returns the frames after the newest checkpoint, which opening replays. */
    public List<Frame> replayed() {
        return frames.stream()
                .filter(frame -> frame.lsn() >= newest().startLsn())
                .toList();
    }
}
