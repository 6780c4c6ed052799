package io.caravan.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
import java.util.random.RandomGenerator;

/**
 * One file of a {@link CrashStorage}: its bytes as readers see them, and its bytes on the disk.
 *
 * <p>An array that is both visible and durable, or that another file shares, is copied before its first change. The
 * monitor of the storage guards everything except reads through mappings.
 */
final class CrashFile {
    static final int SECTOR_BYTES = 512;
    static final int BLOCK_BYTES = 4096;

    private byte[] visible;
    private byte[] durable;
    private boolean visibleShared;
    private boolean durableShared;
    /** The number of mappings of this file. While it is not zero, {@link #visible} stays the same array. */
    private int mappings;

    /** The sectors written since the last fsync, even if that fsync failed. The kernel has no others to write. */
    private final BitSet writtenSectors = new BitSet();

    /** Blocks that may become garbage: those written since the last successful fsync. */
    private final BitSet writtenBlocks = new BitSet();

    private CrashFile(byte[] visible, byte[] durable, boolean shared) {
        this.visible = visible;
        this.durable = durable;
        this.visibleShared = shared;
        this.durableShared = shared;
    }

    /** Returns a file whose bytes are all on the disk. */
    static CrashFile durable(byte[] bytes) {
        return new CrashFile(bytes, bytes, false);
    }

    /** Returns a file of zeros that is not on the disk yet, so that even its size is not durable. */
    static CrashFile unforcedZeros(int bytes) {
        CrashFile file = new CrashFile(new byte[0], new byte[0], false);
        file.write(ByteBuffer.allocate(bytes), 0, false);
        return file;
    }

    /** Extends a file of zeros to this size, both visibly and durably. */
    void completeZeros(int size) {
        write(ByteBuffer.allocate(size - visible.length), visible.length, false);
        force();
    }

    /** Returns a file whose visible and durable bytes are the durable bytes of this one. */
    CrashFile sharingDurable() {
        durableShared = true;
        return new CrashFile(durable, durable, true);
    }

    /** Returns the same file without its mappings. */
    CrashFile afterKill() {
        visibleShared = mappings == 0;
        durableShared = true;
        CrashFile copy = new CrashFile(mappings > 0 ? visible.clone() : visible, durable, true);
        copy.writtenSectors.or(writtenSectors);
        copy.writtenBlocks.or(writtenBlocks);
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

    /**
     * Writes bytes.
     *
     * @param sharesBlocks whether the writes of the file share blocks with older bytes, which must survive; then only
     * blocks that one write covers completely may become garbage
     */
    void write(ByteBuffer source, long position, boolean sharesBlocks) {
        int from = Math.toIntExact(position);
        int count = source.remaining();
        int to = Math.addExact(from, count);
        if (count == 0) {
            return;
        }
        growTo(to);
        source.get(changeableVisible(), from, count);
        writtenSectors.set(from / SECTOR_BYTES, (to - 1) / SECTOR_BYTES + 1);
        int firstBlock = sharesBlocks ? (from + BLOCK_BYTES - 1) / BLOCK_BYTES : from / BLOCK_BYTES;
        int endBlock = sharesBlocks ? to / BLOCK_BYTES : (to - 1) / BLOCK_BYTES + 1;
        writtenBlocks.set(firstBlock, Math.max(firstBlock, endBlock));
    }

    private void growTo(int size) {
        if (size <= visible.length) {
            return;
        }
        if (mappings > 0) {
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

    ByteBuffer map() {
        byte[] bytes = changeableVisible();
        mappings++;
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Ends a mapping. After the last one, the mapped array contains garbage, so that any further use fails. */
    void unmap() {
        mappings--;
        if (mappings == 0) {
            byte[] shown = visible;
            visible = shown.clone();
            Arrays.fill(shown, (byte) 0xDB);
        }
    }

    /** Flips bits of a byte, both in the visible bytes and on the disk. */
    void rot(int offset, int xorMask) {
        changeableVisible()[offset] ^= (byte) xorMask;
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

    /** Returns the sectors that the kernel must still write, in order: written ones that differ from the disk. */
    int[] unforcedSectors() {
        return writtenSectors.stream().filter(this::isNotOnDisk).toArray();
    }

    private boolean isNotOnDisk(int sector) {
        int from = sector * SECTOR_BYTES;
        int to = Math.min(from + SECTOR_BYTES, visible.length);
        return to > durable.length || !Arrays.equals(visible, from, to, durable, from, to);
    }

    /** Writes everything, including the size, to the disk. */
    void force() {
        writeToDisk(unforcedSectors(), visible.length);
        writtenSectors.clear();
        writtenBlocks.clear();
    }

    /** Simulates a failed fsync: the disk stores some sectors, and the kernel drops the others from its list. */
    void failForce(RandomGenerator choices) {
        writeToDisk(KeptSectors.any(choices).of(unforcedSectors(), choices), visible.length);
        writtenSectors.clear();
    }

    /** Writes some of the pending sectors, as the kernel may at any time. Returns whether there were any to write. */
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
        if (sectors.length == 0 && size == durable.length) {
            return;
        }
        makeDurableChangeable(size);
        for (int sector : sectors) {
            int from = sector * SECTOR_BYTES;
            copyVisible(durable, from, from + SECTOR_BYTES);
        }
    }

    /** Copies a range of the visible bytes to the same range of another array, up to the end of that array. */
    void copyVisible(byte[] target, int from, int to) {
        System.arraycopy(visible, from, target, from, Math.min(to, target.length) - from);
    }

    /** Copies a range of the durable bytes, followed by zeros where the range extends past their end. */
    void copyDurable(byte[] target, int from, int to) {
        int end = Math.max(from, Math.min(to, durable.length));
        System.arraycopy(durable, Math.min(from, durable.length), target, from, end - from);
        Arrays.fill(target, end, to, (byte) 0);
    }

    /** Returns the first position in a range where the disk differs from the visible bytes, or the end of the range. */
    int firstDifference(int from, int to) {
        int position = from;
        while (position < to && visible[position] == durableByte(position)) {
            position++;
        }
        return position;
    }

    /**
     * Returns the last position in a range at which the disk differs from the visible bytes, or the position before
     * the range if there is none.
     */
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

    /** Returns the durable bytes, truncated to this size or padded with zeros. */
    byte[] durablePadded(int size) {
        return Arrays.copyOf(durable, size);
    }

    BitSet writtenBlocks() {
        return writtenBlocks;
    }
}
