package io.caravan.torture.model;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** The expected or found contents of one list: its first sequence, and a fingerprint of each retained value. */
public final class ListModel {

    /**
     * A value in the list, represented by its fingerprint.
     *
     * @param origin source of the append, for failure reports
     */
    private record Item(long fingerprint, int length, String origin) {
        boolean same(Item other) {
            return fingerprint == other.fingerprint && length == other.length;
        }
    }

    private final Deque<Item> items = new ArrayDeque<>();
    private long firstSequence;
    private long bytes;

    /** Creates an empty list whose next value gets this sequence. */
    public ListModel(long firstSequence) {
        this.firstSequence = firstSequence;
    }

    /** Returns the sequence of the first retained value, or of the next value if none is retained. */
    public long firstSequence() {
        return firstSequence;
    }

    /** Returns the sequence that the next value will get. */
    public long nextSequence() {
        return firstSequence + items.size();
    }

    /** Returns the number of retained values. */
    public int count() {
        return items.size();
    }

    /** Returns the sum of the lengths of the retained values. */
    public long bytes() {
        return bytes;
    }

    /** Appends a value that was read and that describes itself. */
    public void append(ByteBuffer value) {
        append(value, TortureValues.describe(value));
    }

    /**
     * Appends a value.
     *
     * @param origin source of the append, for failure reports
     */
    public void append(ByteBuffer value, String origin) {
        append(new Item(TortureValues.fingerprint(value), value.remaining(), origin));
    }

    private void append(Item item) {
        items.addLast(item);
        bytes += item.length();
    }

    /** Removes all values before the sequence; returns the first retained sequence. */
    public long trimTo(long sequence) {
        while (firstSequence < sequence && !items.isEmpty()) {
            bytes -= items.removeFirst().length();
            firstSequence++;
        }
        return firstSequence;
    }

    /** Sets the first sequence to 0, because some clients see only the positions of values, which count from 0. */
    public void countFromZero() {
        firstSequence = 0;
    }

    /** Returns a new list of the values from one position to another, both inclusive. */
    public ListModel range(long from, long to) {
        ListModel range = new ListModel(0);
        long first = Math.max(0, from);
        items.stream().skip(first).limit(Math.max(0, to - first + 1)).forEach(range::append);
        return range;
    }

    /** Returns an independent copy of this list. */
    public ListModel copy() {
        ListModel copy = new ListModel(firstSequence);
        items.forEach(copy::append);
        return copy;
    }

    /** Returns a hash of the values and their order, independent of the first sequence. */
    public long digest() {
        long digest = items.size();
        for (Item item : items) {
            digest = TortureValues.combine(digest, item.fingerprint());
        }
        return digest;
    }

    /** Returns a description of the last value, for failure reports. */
    public String last() {
        return items.isEmpty() ? "nothing" : items.getLast().origin();
    }

    /** Returns a description of how this list and the list found differ; null if they are equal. */
    public @Nullable String difference(ListModel found) {
        if (firstSequence != found.firstSequence || nextSequence() != found.nextSequence()) {
            return "should hold sequences " + this + ", holds " + found + firstUnlike(found);
        }
        String unlike = firstUnlike(found);
        return unlike.isEmpty() ? null : "holds " + this + unlike;
    }

    private String firstUnlike(ListModel found) {
        Iterator<Item> mine = items.iterator();
        Iterator<Item> theirs = found.items.iterator();
        skip(mine, found.firstSequence - firstSequence);
        skip(theirs, firstSequence - found.firstSequence);
        long sequence = Math.max(firstSequence, found.firstSequence);
        for (; mine.hasNext() && theirs.hasNext(); sequence++) {
            Item should = mine.next();
            Item is = theirs.next();
            if (!should.same(is)) {
                return "; sequence " + sequence + " should be " + should.origin() + ", is " + is.origin();
            }
        }
        return "";
    }

    private static void skip(Iterator<Item> items, long count) {
        for (long i = 0; i < count && items.hasNext(); i++) {
            items.next();
        }
    }

    /** Returns the range of retained sequences. */
    @Override
    public String toString() {
        return "[" + firstSequence + ", " + nextSequence() + ")";
    }
}
