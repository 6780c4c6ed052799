package io.caravan.testing;

import static io.caravan.testing.CrashFile.BLOCK_BYTES;
import static io.caravan.testing.CrashFile.SECTOR_BYTES;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Determines the bytes of one file after a power cut. */
final class FileCut {
    private static final int SIZES = 3;
    private static final int NONE = -1;

    private final String name;
    private final int fullSize;
    private final byte[] bytes;
    private int kept;
    private int lost;
    private int tornSector = NONE;
    private int tornAt;
    private int garbledBlock = NONE;

    private FileCut(String name, CrashFile file, KeptSectors pattern, RandomGenerator choices) {
        this.name = name;
        this.fullSize = file.size();
        this.bytes = file.durablePadded(keptSize(file, pattern, choices));
    }

    /** Chooses the kept sectors according to the pattern, and tears one of them if {@code tears} is set. */
    static FileCut of(
            String name, CrashFile file, int[] sectors, KeptSectors pattern, boolean tears, RandomGenerator choices) {
        FileCut cut = new FileCut(name, file, pattern, choices);
        int[] written = cut.write(file, pattern.of(sectors, choices));
        cut.kept = written.length;
        cut.lost = sectors.length - written.length;
        if (tears && sectors.length > 0) {
            cut.tear(file, sectors[choices.nextInt(sectors.length)], written, choices);
        }
        return cut;
    }

    private static int keptSize(CrashFile file, KeptSectors pattern, RandomGenerator choices) {
        int grown = file.size() - file.durableSize();
        if (grown == 0 || pattern == KeptSectors.ALL) {
            return file.size();
        }
        return switch (choices.nextInt(SIZES)) {
            case 0 -> file.durableSize();
            case 1 -> file.size();
            default -> file.durableSize() + choices.nextInt(grown);
        };
    }

    /** Writes the new bytes of these sectors. Returns those within the kept size. */
    private int[] write(CrashFile file, int[] sectors) {
        int count = 0;
        while (count < sectors.length && sectors[count] * SECTOR_BYTES < bytes.length) {
            int from = sectors[count] * SECTOR_BYTES;
            file.copyVisible(bytes, from, from + SECTOR_BYTES);
            count++;
        }
        return count == sectors.length ? sectors : Arrays.copyOf(sectors, count);
    }

    /** Tears a sector with at least two differing bytes: new up to some byte and old after it, or old and then new. */
    private void tear(CrashFile file, int sector, int[] written, RandomGenerator choices) {
        int from = sector * SECTOR_BYTES;
        int to = Math.min(from + SECTOR_BYTES, bytes.length);
        int first = file.firstDifference(from, to);
        int last = file.lastDifference(from, to);
        if (last <= first) {
            return;
        }
        int at = first + 1 + choices.nextInt(last - first);
        boolean newFirst = choices.nextBoolean();
        file.copyVisible(bytes, newFirst ? from : at, newFirst ? at : to);
        file.copyDurable(bytes, newFirst ? at : from, newFirst ? to : at);
        tornSector = sector;
        tornAt = at - from;
        if (Arrays.binarySearch(written, sector) < 0) {
            lost--;
        } else {
            kept--;
        }
    }

    /** Fills a block, up to the end of the file, with random bytes. */
    void garble(int block, RandomGenerator choices) {
        int from = block * BLOCK_BYTES;
        int to = Math.min(from + BLOCK_BYTES, bytes.length);
        if (from < to) {
            byte[] garbage = new byte[to - from];
            choices.nextBytes(garbage);
            System.arraycopy(garbage, 0, bytes, from, garbage.length);
            garbledBlock = block;
        }
    }

    CrashFile file() {
        return CrashFile.durable(bytes);
    }

    @Override
    public String toString() {
        StringBuilder words = new StringBuilder(name);
        words.append(": sectors kept ").append(kept).append(", lost ").append(lost);
        if (tornSector != NONE) {
            words.append(", sector ")
                    .append(tornSector)
                    .append(" torn at byte ")
                    .append(tornAt);
        }
        if (garbledBlock != NONE) {
            words.append(", block ").append(garbledBlock).append(" garbled");
        }
        if (bytes.length != fullSize) {
            words.append(", ")
                    .append(bytes.length)
                    .append(" of ")
                    .append(fullSize)
                    .append(" bytes");
        }
        return words.toString();
    }
}
