package io.caravan.bench.torture;

/** How what is written and what is dropped again balance. */
enum Appetite {
    /** The store stays small over many rounds. */
    MODERATE(60, 15, 120, Integer.MAX_VALUE),
    /** The store grows until it may not, though every kind of change still comes. */
    GREEDY(60, 1, 2_000, 3);

    private final int trims;
    private final int deletes;
    private final int longList;
    private final int longestTrim;

    Appetite(int trims, int deletes, int longList, int longestTrim) {
        this.trims = trims;
        this.deletes = deletes;
        this.longList = longList;
        this.longestTrim = longestTrim;
    }

    /** Of a thousand changes, so many are trims. */
    int trims() {
        return trims;
    }

    /** Of a thousand changes, so many are deletes. */
    int deletes() {
        return deletes;
    }

    /** A list longer than this is trimmed before anything else. */
    int longList() {
        return longList;
    }

    /** How many values a trim may drop of a list of this length, unless it is too long. */
    int longestTrim(int length) {
        return length > longList ? length : Math.min(length, longestTrim);
    }
}
