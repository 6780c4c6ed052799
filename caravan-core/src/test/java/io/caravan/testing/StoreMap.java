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
 * What every byte of a sound store is. Whatever is in no area is unused: zeros behind headers and frames, log segments
 * that were never used, frames that no checkpoint needs any more, free space of the heap.
 */
public final class StoreMap {

    /** What bytes are. */
    public enum Kind {
        /** Nobody reads it, or it is written again before anybody does. */
        UNUSED,
        /** A checkpoint's file header, its own header, or a section. */
        CHECKPOINT,
        /** The file header of a segment. */
        HEADER,
        FRAME,
        /** The log's last frame, when no checkpoint needs the log that far: damage to it looks like a torn tail. */
        LAST_FRAME,
        /** A live value in the heap, with its checksum and length. */
        ENTRY
    }

    /** A run of bytes that are checked together, and for a live value which. */
    public record Area(int start, int end, Kind kind, HeapEntry entry) {
        static final Area UNUSED = new Area(0, 0, Kind.UNUSED, null);

        Area(int start, int end, Kind kind) {
            this(start, end, kind, null);
        }

        /** Whether a problem says that this is damaged: the file, an offset in the area, for a value its entry. */
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

    /** An area, and where. */
    public record Place(String file, Area area) {}

    private final Map<String, NavigableMap<Integer, Area>> areas = new HashMap<>();

    private StoreMap() {}

    /** Maps the files of a store that is closed, or was killed. */
    public static StoreMap of(DirectoryImage image, StoreAnatomy anatomy) {
        return of(image, anatomy, false);
    }

    /** Maps the files of a store that is open: it knows its log's end, and reads values where they lie. */
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
     * From the one where the older checkpoint starts. Of a store that is not open the last was never used, and its
     * header may be half made.
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

    /** All areas that are used. */
    public List<Place> used() {
        return areas.entrySet().stream()
                .flatMap(file -> file.getValue().values().stream().map(area -> new Place(file.getKey(), area)))
                .filter(place -> place.area().kind() != Kind.UNUSED)
                .toList();
    }

    /** Whether anything in a file is used. */
    public boolean uses(String file) {
        return areas.containsKey(file);
    }

    /** What the byte at an offset belongs to. */
    public Area areaOf(String file, int offset) {
        NavigableMap<Integer, Area> ofFile = areas.get(file);
        Map.Entry<Integer, Area> at = ofFile == null ? null : ofFile.floorEntry(offset);
        return at != null && offset < at.getValue().end() ? at.getValue() : Area.UNUSED;
    }
}
