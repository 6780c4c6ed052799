package io.caravan.server.cluster;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A range of consecutive slots, with both bounds, that belong to one group of a cluster. */
public record SlotRange(int first, int last) implements Comparable<SlotRange> {
    /** All slots: the range of the group in a cluster with only one group. */
    public static final SlotRange ALL = new SlotRange(0, Slots.COUNT - 1);

    /** Compares both bounds: ranges that differ only in their last slot belong to different groups. */
    private static final Comparator<SlotRange> ORDER =
            Comparator.comparingInt(SlotRange::first).thenComparingInt(SlotRange::last);

    private static final Pattern TEXT = Pattern.compile("([0-9]{1,5})-([0-9]{1,5})");

    public SlotRange {
        if (first < 0 || last < first || last >= Slots.COUNT) {
            throw new IllegalArgumentException("slots go from 0 to " + (Slots.COUNT - 1)
                    + ", the first before the last; were " + first + "-" + last);
        }
    }

    /** Parses slots such as {@code 0-8191}; throws {@link IllegalArgumentException} if they have another form. */
    public static SlotRange parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("slots are written FIRST-LAST, such as 0-8191; was " + text);
        }
        return new SlotRange(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    /** Returns the slots of a group if {@link Slots#group} divides all slots into this number of groups. */
    public static SlotRange ofGroup(int group, int groups) {
        return new SlotRange(firstOf(group, groups), firstOf(group + 1, groups) - 1);
    }

    private static int firstOf(int group, int groups) {
        return (group * Slots.COUNT + groups - 1) / groups;
    }

    public boolean contains(int slot) {
        return first <= slot && slot <= last;
    }

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
