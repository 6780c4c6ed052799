package io.caravan.fuzz;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.format.Blocks;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.heap.HeapGeometry;
import io.caravan.index.ListIndex;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreAnatomy;
import io.caravan.wal.LogBuffer;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import io.caravan.wal.LogWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Writes a small store without the engine, so that its bytes are always the same, and a saved input always changes the
 * same bytes. The segments have the smallest possible size.
 */
public final class ForgedStore {
    public static final long STORE_ID = 0x0CA2_A7A4_0000_0001L;
    public static final LogGeometry LOG = new LogGeometry(4 * Blocks.BLOCK_BYTES);
    public static final HeapGeometry HEAP = new HeapGeometry(2 * Blocks.BLOCK_BYTES);
    private static final int LOG_SEGMENTS = 4;
    private static final int HEAP_SEGMENTS = 2;

    private final MemoryStorage storage = new MemoryStorage();
    private final LogSegments log = new LogSegments(storage, LOG, STORE_ID);
    private final HeapFile heap = new HeapFile(storage, HEAP, STORE_ID);
    private final LogBuffer frame = new LogBuffer(LOG.segmentBytes() - Blocks.BLOCK_BYTES);
    private final LogWriter writer;
    private final Map<Long, Place> lists = new HashMap<>();
    private long tail = LOG.firstFrame(0);
    private FrameLayout.Link last = FrameLayout.Link.NONE;
    private long address = HEAP.firstAddress(0);
    private long checkpoints;

    /** The creation LSN of a list, and the sequence of its next value. */
    private record Place(long creationLsn, long next) {}

    public ForgedStore() throws IOException {
        for (int i = 0; i < LOG_SEGMENTS; i++) {
            log.prepareNext();
        }
        for (int i = 0; i < HEAP_SEGMENTS; i++) {
            heap.createNext();
        }
        writer = new LogWriter(log, STORE_ID, new LogScanner.End(tail, last, 0, false));
        writeCheckpoint(new ListIndex());
        frame.place(tail, LOG);
    }

    /**
     * Returns the files of a killed store with trimmed lists, a list that was deleted and recreated, and frames after
     * two checkpoints.
     */
    public static DirectoryImage image() throws IOException {
        return new ForgedStore()
                .append(1, 5)
                .append(1, 0)
                .append(2, 700)
                .endFrame()
                .append(-9, 30)
                .append(3, 1)
                .trim(1, 1)
                .endFrame()
                .checkpoint()
                .append(1, 12)
                .delete(3)
                .append(3, 9)
                .endFrame()
                .append(2, 3500)
                .endFrame()
                .checkpoint()
                .append(2, 8)
                .append(4, 16)
                .endFrame()
                .append(4, 2)
                .trim(2, 1)
                .endFrame()
                .build();
    }

    public ForgedStore append(long id, int length) {
        byte[] value = value(id, length);
        int at = frame.add(RecordLayout.appendBytes(length));
        long lsn = frame.lsn(at);
        Place place = lists.getOrDefault(id, new Place(lsn, 0));
        int sum = EntryLayout.checksum(Checksums.crc32c(value), length, id, place.creationLsn(), place.next());
        RecordLayout.putAppend(frame.memory(), at, id, place.next(), sum, length);
        frame.memory().put(at + RecordLayout.ENTRY + EntryLayout.VALUE, value);
        lists.put(id, new Place(place.creationLsn(), place.next() + 1));
        return this;
    }

    private static byte[] value(long id, int length) {
        byte[] value = new byte[length];
        Arrays.fill(value, (byte) ('a' + Math.floorMod(id, 26)));
        return value;
    }

    /** Allocates heap space for a value and returns its address. Space is never reused. */
    private long ask(int length) {
        int bytes = EntryLayout.entryBytes(length);
        if (!HEAP.contains(address, bytes)) {
            address = HEAP.firstAddress(HEAP.segmentOf(address) + 1);
        }
        long taken = address;
        address += bytes;
        return taken;
    }

    public ForgedStore trim(long id, long first) {
        RecordLayout.putTrim(frame.memory(), frame.add(RecordLayout.TRIM_BYTES), id, first);
        return this;
    }

    public ForgedStore delete(long id) {
        RecordLayout.putDelete(frame.memory(), frame.add(RecordLayout.DELETE_BYTES), id);
        lists.remove(id);
        return this;
    }

    public ForgedStore endFrame() throws IOException {
        long payload = frame.payloadBytes();
        if (payload + FrameLayout.HEADER_BYTES > LOG.remaining(tail)) {
            throw new IllegalStateException("the frame does not fit its segment: it was placed at its first record");
        }
        writer.write(frame, writer.seal(frame, false));
        last = FrameLayout.link(frame.memory(), 0);
        startFrame(LOG.positionAfter(frame.endLsn()));
        return this;
    }

    /** Places the next frame in the next log segment, as if it did not fit in the rest of the current one. */
    public ForgedStore skipToNextSegment() {
        startFrame(LOG.firstFrame(LOG.segmentOf(tail) + 1));
        return this;
    }

    private void startFrame(long lsn) {
        tail = lsn;
        frame.clear();
        frame.place(tail, LOG);
    }

    /** Moves the values in the log to the heap and publishes a checkpoint. Keeps the last two checkpoints. */
    public ForgedStore checkpoint() throws IOException {
        try (Recovered recovered = new Recovery(storage).recover()) {
            writeCheckpoint(recovered.index());
        }
        return this;
    }

    private void writeCheckpoint(ListIndex index) throws IOException {
        try (CheckpointWriter checkpoint = new CheckpointWriter(storage, checkpoints)) {
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                checkpoint.startPartition(partition, tail);
                for (int list : listsOf(index, partition)) {
                    write(index, list, checkpoint);
                }
                checkpoint.endPartition();
            }
            checkpoint.publish(new CheckpointHeader(
                    FileHeader.NEWEST_VERSION,
                    checkpoints,
                    STORE_ID,
                    tail,
                    tail,
                    last,
                    checkpoint.lists(),
                    checkpoint.entries(),
                    LOG.segmentBytes(),
                    HEAP.segmentBytes(),
                    HEAP_SEGMENTS,
                    ListIndex.PARTITIONS));
        }
        if (checkpoints >= 2) {
            storage.delete(FileNames.CHECKPOINT.of(checkpoints - 2));
        }
        checkpoints++;
    }

    private static int[] listsOf(ListIndex index, int partition) {
        IntStream.Builder found = IntStream.builder();
        index.forEachList(partition, found::add);
        return found.build().toArray();
    }

    private void write(ListIndex index, int list, CheckpointWriter checkpoint) throws IOException {
        checkpoint.list(index.id(list), index.creationLsn(list), index.first(list), index.next(list));
        long[] regions = StoreAnatomy.regionsOf(index, list);
        if (regions.length > 0) {
            for (int i = 0; i < regions.length; i++) {
                regions[i] = Region.isInLog(regions[i]) ? inHeap(regions[i]) : regions[i];
            }
            checkpoint.regions(regions, 0, regions.length);
        }
    }

    private long inHeap(long region) throws IOException {
        ByteBuffer entry = ByteBuffer.allocate(Region.entryBytes(region));
        if (!log.copy(Region.entryLsn(region, tail), entry, entry.capacity())) {
            throw new IllegalStateException("the log is gone");
        }
        long to = ask(Region.length(region));
        heap.write(to, entry.flip());
        return Region.pack(to, Region.length(region));
    }

    public DirectoryImage build() {
        return storage.image();
    }
}
