package io.caravan.testing;

import static io.caravan.testing.CrashFile.SECTOR_BYTES;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Sectors of a file that a failed force has left neither written nor to be written: readers see bytes that the disk
 * will not get, until somebody writes there again. A write through a mapping is noticed by the bytes it changes.
 */
final class DroppedSectors {
    static final DroppedSectors NONE = new DroppedSectors(new BitSet(), new byte[0]);

    private final BitSet sectors;
    /** What readers saw when the sectors were dropped. */
    private final byte[] image;

    private DroppedSectors(BitSet sectors, byte[] image) {
        this.sectors = sectors;
        this.image = image;
    }

    /** These and those that a force should have written, but for the ones that it did. */
    DroppedSectors with(int[] unforced, int[] written, byte[] visible) {
        BitSet more = (BitSet) sectors.clone();
        for (int sector : unforced) {
            more.set(sector);
        }
        for (int sector : written) {
            more.clear(sector);
        }
        return new DroppedSectors(more, visible.clone());
    }

    DroppedSectors copy() {
        return sectors.isEmpty() ? NONE : new DroppedSectors((BitSet) sectors.clone(), image.clone());
    }

    boolean contains(int sector, byte[] visible) {
        return sectors.get(sector) && unchanged(sector, visible);
    }

    private boolean unchanged(int sector, byte[] visible) {
        int from = sector * SECTOR_BYTES;
        int to = Math.min(from + SECTOR_BYTES, image.length);
        return Arrays.equals(image, from, to, visible, from, to);
    }

    void forget(int fromSector, int toSector) {
        sectors.clear(fromSector, toSector);
    }

    /** Forgets those that were written again through a mapping. */
    void forgetChanged(byte[] visible) {
        for (int sector = sectors.nextSetBit(0); sector >= 0; sector = sectors.nextSetBit(sector + 1)) {
            if (!unchanged(sector, visible)) {
                sectors.clear(sector);
            }
        }
    }

    void rot(int offset, int xorMask) {
        if (offset < image.length) {
            image[offset] ^= (byte) xorMask;
        }
    }
}
