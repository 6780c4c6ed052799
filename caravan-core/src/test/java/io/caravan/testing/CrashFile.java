package io.caravan.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
import java.util.random.RandomGenerator;

/**
 * One file of a {@link CrashStorage}: its bytes as readers see them, and as they are on the disk.
 *
 * <p>An array that is the visible and the durable one at once, or that another file has too, is never changed: it is
 * copied before the first change. Guarded by the monitor of the storage, but for what goes through mappings.
 */
final class CrashFile {
    static final int SECTOR_BYTES = 512;
    static final int BLOCK_BYTES = 4096;

    private byte[] visible;
    private byte[] durable;
    private boolean visibleShared;
    private boolean durableShared;
    /** From the first mapping on, {@link #visible} stays the same array, and any part of it may change unnoticed. */
    private boolean mapped;

    private int mappings;

    /** All sectors written since the last force, but for writes through a mapping, lie between these positions. */
    private int writtenFrom = Integer.MAX_VALUE;

    private int writtenTo;
    /** Blocks that were the target of such a write. */
    private final BitSet writtenBlocks = new BitSet();

    private DroppedSectors dropped = DroppedSectors.NONE;

    private CrashFile(byte[] visible, byte[] durable, boolean shared) {
        this.visible = visible;
        this.durable = durable;
        this.visibleShared = shared;
        this.durableShared = shared;
    }

    /** A file whose bytes are all on the disk. */
    static CrashFile durable(byte[] bytes) {
        return new CrashFile(bytes, bytes, false);
    }

    /** A file of zeros of which nothing is on the disk yet, not even the size. */
    static CrashFile unforcedZeros(int bytes) {
        CrashFile file = new CrashFile(new byte[0], new byte[0], false);
        file.write(ByteBuffer.allocate(bytes), 0);
        return file;
    }

    /** Gives a file of zeros its size, on the disk too. */
    void completeZeros(int size) {
        write(ByteBuffer.allocate(size - visible.length), visible.length);
        force(0, size);
    }

    /** A file with the same bytes on the disk and nothing else. */
    CrashFile sharingDurable() {
        durableShared = true;
        return new CrashFile(durable, durable, true);
    }

    /** The same file without its mappings. */
    CrashFile afterKill() {
        visibleShared = !mapped;
        durableShared = true;
        CrashFile copy = new CrashFile(mapped ? visible.clone() : visible, durable, true);
        copy.writtenFrom = mapped ? 0 : writtenFrom;
        copy.writtenTo = mapped ? visible.length : writtenTo;
        copy.writtenBlocks.or(writtenBlocks);
        copy.dropped = dropped.copy();
        return copy;
    }

    int size() {
        return visible.length;
    }

    int durableSize() {
        return durable.length;
    }

    byte[] visibleCopy() {
        return visible.clone();
    }

    byte[] durableCopy() {
        return durable.clone();
    }

    int read(ByteBuffer target, long position) {
        int count = (int) Math.max(0, Math.min(target.remaining(), visible.length - position));
        if (count > 0) {
            target.put(visible, (int) position, count);
        }
        return count;
    }

    void write(ByteBuffer source, long position) {
        int from = Math.toIntExact(position);
        int count = source.remaining();
        int to = Math.addExact(from, count);
        if (count == 0) {
            return;
        }
        growTo(to);
        source.get(changeableVisible(), from, count);
        noteWrite(from / SECTOR_BYTES, (to - 1) / SECTOR_BYTES + 1);
        writtenBlocks.set(from / BLOCK_BYTES, (to - 1) / BLOCK_BYTES + 1);
    }

    private void noteWrite(int fromSector, int toSector) {
        writtenFrom = Math.min(writtenFrom, fromSector * SECTOR_BYTES);
        writtenTo = Math.max(writtenTo, toSector * SECTOR_BYTES);
        dropped.forget(fromSector, toSector);
    }

    private void growTo(int size) {
        if (size <= visible.length) {
            return;
        }
        if (mapped) {
            throw new IllegalStateException("a mapped file cannot grow from " + visible.length + " to " + size);
        }
        visible = Arrays.copyOf(visible, size);
        visibleShared = false;
    }

    private byte[] changeableVisible() {
        if (visibleShared || visible == durable) {
            visible = visible.clone();
            visibleShared = false;
        }
        return visible;
    }

    /** Who maps a file anew after a failed force is taken to write anew, as an overwrite with the same bytes goes unseen. */
    ByteBuffer map() {
        dropped = DroppedSectors.NONE;
        byte[] bytes = changeableVisible();
        mapped = true;
        mappings++;
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Ends a mapping. The last one shows garbage from here on, so that nobody uses it and goes unnoticed. */
    void unmap() {
        mappings--;
        if (mappings == 0) {
            byte[] shown = visible;
            visible = shown.clone();
            Arrays.fill(shown, (byte) 0xDB);
        }
    }

    /** Flips bits of a byte both as it is seen and as it is on the disk. */
    void rot(int offset, int xorMask) {
        changeableVisible()[offset] ^= (byte) xorMask;
        dropped.rot(offset, xorMask);
        if (offset < durable.length) {
            makeDurableChangeable(durable.length);
            durable[offset] ^= (byte) xorMask;
        }
    }

    private void makeDurableChangeable(int size) {
        if (durableShared || size > durable.length) {
            durable = Arrays.copyOf(durable, Math.max(size, durable.length));
            durableShared = false;
        }
    }

    /**
     * The sectors, in order, whose new bytes the kernel still has to write: those that differ, without those that it
     * has dropped, and all that a grown size has added.
     */
    int[] unforcedSectors() {
        if (visible == durable) {
            return KeptSectors.NOTHING;
        }
        int common = Math.min(mapped ? visible.length : writtenTo, durable.length);
        int from = mapped ? 0 : Math.min(writtenFrom, common);
        int[] found = new int[sectors(common - from) + sectors(visible.length - durable.length)];
        int count = 0;
        while (from < common) {
            int difference = Arrays.mismatch(visible, from, common, durable, from, common);
            if (difference < 0) {
                break;
            }
            int sector = (from + difference) / SECTOR_BYTES;
            if (!dropped.contains(sector, visible)) {
                found[count++] = sector;
            }
            from = (sector + 1) * SECTOR_BYTES;
        }
        return withGrown(found, count);
    }

    /** At most how many sectors so many bytes touch. */
    private static int sectors(int bytes) {
        return bytes / SECTOR_BYTES + 2;
    }

    private int[] withGrown(int[] found, int differing) {
        int count = differing;
        int sector = durable.length / SECTOR_BYTES;
        if (count > 0 && found[count - 1] == sector) {
            sector++;
        }
        if (visible.length > durable.length) {
            for (; sector * SECTOR_BYTES < visible.length; sector++) {
                found[count++] = sector;
            }
        }
        return count == 0 ? KeptSectors.NOTHING : Arrays.copyOf(found, count);
    }

    /** Forces what lies between two positions, and the size. */
    void force(int from, int to) {
        writeToDisk(unforcedSectors(from, to), visible.length);
        forgetWrites(from, to);
        writtenBlocks.clear(from / BLOCK_BYTES, blockBehind(to));
    }

    /** A force that fails: the disk takes some sectors, and the kernel forgets that it has the others to write. */
    void failForce(int from, int to, RandomGenerator choices) {
        int[] sectors = unforcedSectors(from, to);
        int[] kept = KeptSectors.any(choices).of(sectors, choices);
        writeToDisk(kept, visible.length);
        dropped = dropped.with(sectors, kept, visible);
        forgetWrites(from, to);
    }

    private int[] unforcedSectors(int from, int to) {
        return Arrays.stream(unforcedSectors())
                .filter(sector -> sector * SECTOR_BYTES < to && (sector + 1) * SECTOR_BYTES > from)
                .toArray();
    }

    private int blockBehind(int position) {
        return (Math.min(position, visible.length) + BLOCK_BYTES - 1) / BLOCK_BYTES;
    }

    private void forgetWrites(int from, int to) {
        if (from <= writtenFrom && to >= writtenTo) {
            writtenFrom = Integer.MAX_VALUE;
            writtenTo = 0;
        }
    }

    /** The kernel writes some sectors by itself. Returns whether there were any to write. */
    boolean writeBack(RandomGenerator choices) {
        int[] sectors = unforcedSectors();
        if (sectors.length == 0) {
            return false;
        }
        int[] kept = KeptSectors.any(choices).of(sectors, choices);
        int end = kept.length == 0 ? 0 : (kept[kept.length - 1] + 1) * SECTOR_BYTES;
        writeToDisk(kept, Math.max(durable.length, Math.min(end, visible.length)));
        return true;
    }

    private void writeToDisk(int[] sectors, int size) {
        dropped.forgetChanged(visible);
        if (sectors.length == 0 && size == durable.length) {
            return;
        }
        makeDurableChangeable(size);
        for (int sector : sectors) {
            int from = sector * SECTOR_BYTES;
            copyVisible(durable, from, from + SECTOR_BYTES);
        }
    }

    /** Copies what readers see of a range to the same range of another array, as far as that has it. */
    void copyVisible(byte[] target, int from, int to) {
        System.arraycopy(visible, from, target, from, Math.min(to, target.length) - from);
    }

    /** The same with the bytes on the disk, which are zeros behind its end. */
    void copyDurable(byte[] target, int from, int to) {
        int end = Math.max(from, Math.min(to, durable.length));
        System.arraycopy(durable, Math.min(from, durable.length), target, from, end - from);
        Arrays.fill(target, end, to, (byte) 0);
    }

    /** The first position of a range where the disk has another byte than readers see, or the range's end. */
    int firstDifference(int from, int to) {
        int position = from;
        while (position < to && visible[position] == durableByte(position)) {
            position++;
        }
        return position;
    }

    /** The last such position, or one before the range. */
    int lastDifference(int from, int to) {
        int position = to - 1;
        while (position >= from && visible[position] == durableByte(position)) {
            position--;
        }
        return position;
    }

    private byte durableByte(int position) {
        return position < durable.length ? durable[position] : 0;
    }

    /** The bytes on the disk, cut off or followed by zeros. */
    byte[] durablePadded(int size) {
        return Arrays.copyOf(durable, size);
    }

    /** Blocks that were written, other than through a mapping, since the last force that succeeded. */
    BitSet writtenBlocks() {
        return writtenBlocks;
    }
}
