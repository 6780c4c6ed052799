package io.caravan.testing.simulator;

import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.format.RecordLayout;
import io.caravan.heap.HeapGeometry;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.FaultStorage.Kind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Sees to it, each time a frame is about to be forced, that the heap file has nothing of it yet, and that it takes no
 * region that is live by the frames forced before. It knows the entries of one life only.
 */
final class HeapWatch {
    private final CrashStorage disk;
    private final HeapGeometry geometry;

    /** Live regions by the forced frames: from each address to its entry, and the same by list and sequence. */
    private final NavigableMap<Long, Region> regions = new TreeMap<>();

    private final Map<Long, NavigableMap<Long, Region>> lists = new HashMap<>();
    private String unforcedFile = "";
    private int unforcedAt;

    private record Region(long address, long end) {}

    HeapWatch(CrashStorage disk, HeapGeometry geometry) {
        this.disk = disk;
        this.geometry = geometry;
    }

    /** Whether a call is about a frame. */
    static boolean isFrame(CrashStorage.Call call) {
        return call.kind() == Kind.WRITE
                && call.position() > 0
                && FileNames.LOG.number(call.file()).isPresent();
    }

    /** Whether a call makes frames, or a segment's header, durable. */
    static boolean isLogForce(CrashStorage.Call call) {
        return call.kind() == Kind.FORCE && FileNames.LOG.number(call.file()).isPresent();
    }

    /** To be told of every call. */
    void before(CrashStorage.Call call) {
        if (isFrame(call)) {
            unforcedFile = call.file();
            unforcedAt = (int) call.position();
        } else if (call.kind() == Kind.FORCE && call.file().equals(unforcedFile)) {
            ByteBuffer segment = view(unforcedFile);
            RecordLayout.forEachInFrame(segment, unforcedAt, 0, new Check());
            RecordLayout.forEachInFrame(segment, unforcedAt, 0, new Update());
            unforcedFile = "";
        }
    }

    private ByteBuffer view(String file) {
        return ByteBuffer.wrap(disk.visible(file)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private final class Check implements RecordLayout.Visitor {
        private final Map<String, ByteBuffer> heaps = new HashMap<>();

        @Override
        public void append(long lsn, long id, long sequence, long address, ByteBuffer frame, int entryAt, int length) {
            String entry = "sequence " + sequence + " of list " + id;
            Map.Entry<Long, Region> before = regions.lowerEntry(address + EntryLayout.entryBytes(length));
            if (before != null && before.getValue().end() > address) {
                throw new SimulationFailure(entry + " takes a region whose trim or deletion is not forced yet");
            }
            ByteBuffer heap =
                    heaps.computeIfAbsent(FileNames.HEAP.of(geometry.segmentOf(address)), HeapWatch.this::view);
            int bytes = EntryLayout.VALUE + length;
            // The checksum is bound to id, birth and sequence, so nothing else looks like this entry.
            if (heap.slice(geometry.offsetOf(address), bytes).equals(frame.slice(entryAt, bytes))) {
                throw new SimulationFailure("the heap has " + entry + " before its frame is forced");
            }
        }

        @Override
        public void trim(long lsn, long id, long firstSequence) {}

        @Override
        public void delete(long lsn, long id) {}
    }

    private final class Update implements RecordLayout.Visitor {
        @Override
        public void append(long lsn, long id, long sequence, long address, ByteBuffer frame, int entryAt, int length) {
            Region region = new Region(address, address + EntryLayout.entryBytes(length));
            regions.put(address, region);
            lists.computeIfAbsent(id, missing -> new TreeMap<>()).put(sequence, region);
        }

        @Override
        public void trim(long lsn, long id, long firstSequence) {
            NavigableMap<Long, Region> list = lists.getOrDefault(id, new TreeMap<>());
            drop(list.headMap(firstSequence, false));
        }

        @Override
        public void delete(long lsn, long id) {
            drop(lists.getOrDefault(id, new TreeMap<>()));
        }

        private void drop(NavigableMap<Long, Region> dropped) {
            dropped.values().forEach(region -> regions.remove(region.address()));
            dropped.clear();
        }
    }
}
