package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.testing.StoreAnatomy.Frame;
import io.caravan.testing.StoreAnatomy.HeapEntry;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Maps every byte of an intact store to its use. Bytes in no area are unused: zeros after headers and frames, log
 * segments that were never used, frames that no checkpoint needs, and free space of the heap.
 */
public final class StoreMap {

    /** The use of an area. */
    public enum Kind {
        /** The bytes are never read, or are overwritten before they are read. */
        UNUSED,
        /** The file header, the second header, or a section of a checkpoint. */
        CHECKPOINT,
        /** The file header of a segment. */
        HEADER,
        FRAME,
        /** The last frame of the log, if no checkpoint needs it. Damage to this frame looks like a torn tail. */
        LAST_FRAME,
        /** A live value in the heap, with its checksum and length. */
        ENTRY
    }

    /** A range of bytes that are checked together, with its entry if it is a live value. */
    public record Area(int start, int end, Kind kind, HeapEntry entry) {
        static final Area UNUSED = new Area(0, 0, Kind.UNUSED, null);

        Area(int start, int end, Kind kind) {
            this(start, end, kind, null);
        }

        /** Whether a damage report names this area: its file, an offset in the area, and, for a value, its entry. */
        public boolean isNamedBy(CaravanException problem, String file) {
            return problem instanceof CorruptStoreException at
                    && at.file().endsWith(file)
                    && switch (kind) {
                        case FRAME -> at.offset() == start;
                        case ENTRY ->
                            at.offset() == start && at.id() == entry.id() && at.sequence() == entry.sequence();
                        default -> at.offset() >= start && at.offset() < end;
                    };
        }
    }

    /** An area and the file that contains it. */
    public record Place(String file, Area area) {}

    private final Map<String, NavigableMap<Integer, Area>> areas = new HashMap<>();

    private StoreMap() {}

    /** Maps the files of a store that is closed or was killed. */
    public static StoreMap of(DirectoryImage image, StoreAnatomy anatomy) {
        return of(image, anatomy, false);
    }

    /** Maps the files of an open store, whose log end is known, and whose values are read in place. */
    public static StoreMap ofOpen(DirectoryImage image, StoreAnatomy anatomy) {
        return of(image, anatomy, true);
    }

    private static StoreMap of(DirectoryImage image, StoreAnatomy anatomy, boolean open) {
        StoreMap map = new StoreMap();
        image.names("checkpoint-").forEach(name -> map.addCheckpoint(name, image.buffer(name)));
        image.names("heap-").forEach(name -> map.add(name, new Area(0, FileHeader.BYTES, Kind.HEADER)));
        for (String name : finishedLogSegments(image, anatomy, open)) {
            map.add(name, new Area(0, FileHeader.BYTES, Kind.HEADER));
        }
        for (Frame frame : anatomy.frames()) {
            boolean couldBeTorn = !open
                    && frame.equals(anatomy.lastFrame())
                    && !anatomy.replayed().isEmpty();
            Kind kind = couldBeTorn ? Kind.LAST_FRAME : Kind.FRAME;
            map.add(frame.file(), new Area(frame.offset(), frame.end(), kind));
        }
        for (HeapEntry entry : anatomy.entries()) {
            int end = entry.offset() + EntryLayout.VALUE + entry.length();
            map.add(entry.file(), new Area(entry.offset(), end, Kind.ENTRY, entry));
        }
        return map;
    }

    private void addCheckpoint(String name, ByteBuffer file) {
        add(name, new Area(0, FileHeader.BYTES, Kind.CHECKPOINT));
        add(name, new Area(FileHeader.BYTES, CheckpointLayout.HEADER_BYTES, Kind.CHECKPOINT));
        int at = CheckpointLayout.HEADER_BYTES;
        while (at < file.limit()) {
            int end = at
                    + CheckpointLayout.SECTION_HEADER_BYTES
                    + file.getInt(at + CheckpointLayout.SECTION_PAYLOAD_BYTES);
            add(name, new Area(at, end, Kind.CHECKPOINT));
            at = end;
        }
    }

    /**
     * Returns the log segments from the start LSN of the older checkpoint on. Excludes the last segment of a store that
     * is not open, because that segment was never used, and its header may be half made.
     */
    private static List<String> finishedLogSegments(DirectoryImage image, StoreAnatomy anatomy, boolean open) {
        CheckpointHeader oldest = anatomy.checkpoints().get(0);
        String first = FileNames.LOG.of(oldest.startLsn() / oldest.logSegmentBytes());
        return image.names("log-").stream()
                .filter(name -> name.compareTo(first) >= 0 && (open || !name.equals(image.last("log-"))))
                .toList();
    }

    private void add(String file, Area area) {
        Area before = areaOf(file, area.start());
        Map.Entry<Integer, Area> behind = areasOf(file).higherEntry(area.start());
        if (before != Area.UNUSED || behind != null && behind.getKey() < area.end()) {
            throw new IllegalStateException(area + " of " + file + " overlaps " + before + " or " + behind);
        }
        areasOf(file).put(area.start(), area);
    }

    private NavigableMap<Integer, Area> areasOf(String file) {
        return areas.computeIfAbsent(file, name -> new TreeMap<>());
    }

    /** Returns all used areas. */
    public List<Place> used() {
        return areas.entrySet().stream()
                .flatMap(file -> file.getValue().values().stream().map(area -> new Place(file.getKey(), area)))
                .filter(place -> place.area().kind() != Kind.UNUSED)
                .toList();
    }

    /** Whether any byte of a file is used. */
    public boolean uses(String file) {
        return areas.containsKey(file);
    }

    /** Returns the area that contains the byte at this offset, or an unused area if there is none. */
    public Area areaOf(String file, int offset) {
        NavigableMap<Integer, Area> ofFile = areas.get(file);
        Map.Entry<Integer, Area> at = ofFile == null ? null : ofFile.floorEntry(offset);
        return at != null && offset < at.getValue().end() ? at.getValue() : Area.UNUSED;
    }
}
