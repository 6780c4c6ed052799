package io.caravan.server.cluster;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Consecutive slots, which one group of a cluster has.
 *
 * @param first from 0
 * @param last at least the first, below {@link Slots#COUNT}
 */
public record SlotRange(int first, int last) implements Comparable<SlotRange> {
    /** What the only group of a cluster has. */
    public static final SlotRange ALL = new SlotRange(0, Slots.COUNT - 1);

    /** By both, as only what is equal may compare so: different slots of one beginning are not one group's. */
    private static final Comparator<SlotRange> ORDER =
            Comparator.comparingInt(SlotRange::first).thenComparingInt(SlotRange::last);

    private static final Pattern TEXT = Pattern.compile("([0-9]{1,5})-([0-9]{1,5})");

    public SlotRange {
        if (first < 0 || last < first || last >= Slots.COUNT) {
            throw new IllegalArgumentException("slots go from 0 to " + (Slots.COUNT - 1)
                    + ", the first before the last; were " + first + "-" + last);
        }
    }

    /**
     * Slots as a cluster file has them, such as {@code 0-8191}.
     *
     * @throws IllegalArgumentException when they are not written like that
     */
    public static SlotRange parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("slots are written FIRST-LAST, such as 0-8191; was " + text);
        }
        return new SlotRange(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    /** The slots of a group when all are divided into so many, as by {@link Slots#group}. */
    public static SlotRange ofGroup(int group, int groups) {
        return new SlotRange(firstOf(group, groups), firstOf(group + 1, groups) - 1);
    }

    private static int firstOf(int group, int groups) {
        return (group * Slots.COUNT + groups - 1) / groups;
    }

    /** Whether a slot is one of these. */
    public boolean contains(int slot) {
        return first <= slot && slot <= last;
    }

    /** How many there are. */
    public int count() {
        return last - first + 1;
    }

    @Override
    public int compareTo(SlotRange other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return first + "-" + last;
    }
}
