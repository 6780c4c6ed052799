package io.caravan.testing;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** A pattern that determines which pending sectors a disk has written when the power fails. */
enum KeptSectors {
    ALL,
    NONE,
    PREFIX,
    SUFFIX,
    FEW,
    HALF,
    MOST;

    private static final int[] NOTHING = {};

    private static final int ODDS = 8;
    private static final KeptSectors[] PATTERNS = values();

    static KeptSectors any(RandomGenerator choices) {
        return PATTERNS[choices.nextInt(PATTERNS.length)];
    }

    /** Returns those of the pending sectors that the disk has written. */
    int[] of(int[] sectors, RandomGenerator choices) {
        int count = sectors.length;
        return switch (this) {
            case ALL -> sectors;
            case NONE -> NOTHING;
            case PREFIX -> Arrays.copyOf(sectors, choices.nextInt(count + 1));
            case SUFFIX -> Arrays.copyOfRange(sectors, choices.nextInt(count + 1), count);
            case FEW -> each(sectors, 1, choices);
            case HALF -> each(sectors, ODDS / 2, choices);
            case MOST -> each(sectors, ODDS - 1, choices);
        };
    }

    private static int[] each(int[] sectors, int odds, RandomGenerator choices) {
        int[] kept = new int[sectors.length];
        int count = 0;
        for (int sector : sectors) {
            if (choices.nextInt(ODDS) < odds) {
                kept[count++] = sector;
            }
        }
        return Arrays.copyOf(kept, count);
    }
}
