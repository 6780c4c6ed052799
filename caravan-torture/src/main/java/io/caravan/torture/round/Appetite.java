package io.caravan.torture.round;

/** The ratio of trimmed to appended values in a worker's random changes. */
public enum Appetite {
    /** Keeps the store small over many rounds. */
    MODERATE(60, 15, 120, Integer.MAX_VALUE),
    /** Lets the store grow until it runs out of space. All kinds of changes still occur. */
    GREEDY(60, 1, 2_000, 3);

    /** The number of trims per thousand changes. */
    final int trims;
    /** The number of deletes per thousand changes. */
    final int deletes;
    /** The list length above which a worker's next change to a list is a trim. */
    final int longList;

    private final int longestTrim;

    Appetite(int trims, int deletes, int longList, int longestTrim) {
        this.trims = trims;
        this.deletes = deletes;
        this.longList = longList;
        this.longestTrim = longestTrim;
    }

    /**
     * Returns the maximum number of values that a trim may remove from a list of this length. A list longer than {@link
     * #longList} may be emptied.
     */
    int longestTrim(int length) {
        return length > longList ? length : Math.min(length, longestTrim);
    }
}
