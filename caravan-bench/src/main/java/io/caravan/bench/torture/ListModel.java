package io.caravan.bench.torture;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** The contents of one list: its start, and a fingerprint of each retained value. */
final class ListModel {

    /**
     * A value, by its fingerprint.
     *
     * @param origin what appended it, for failure reports
     */
    record Item(long fingerprint, int length, String origin) {
        boolean same(Item other) {
            return fingerprint == other.fingerprint && length == other.length;
        }
    }

    private final Deque<Item> items = new ArrayDeque<>();
    private long firstSequence;
    private long bytes;

    ListModel(long firstSequence) {
        this.firstSequence = firstSequence;
    }

    long firstSequence() {
        return firstSequence;
    }

    long nextSequence() {
        return firstSequence + items.size();
    }

    int count() {
        return items.size();
    }

    /** Sum of the lengths of the retained values. */
    long bytes() {
        return bytes;
    }

    /** Appends an item and returns its sequence. */
    long append(Item item) {
        items.addLast(item);
        bytes += item.length();
        return nextSequence() - 1;
    }

    /** Drops all items before the sequence; returns the first sequence that is retained. */
    long trimTo(long sequence) {
        while (firstSequence < sequence && !items.isEmpty()) {
            bytes -= items.removeFirst().length();
            firstSequence++;
        }
        return firstSequence;
    }

    /** Forgets how many values were ever dropped, for clients that see only positions. */
    void countFromZero() {
        firstSequence = 0;
    }

    /** Receives each value with its position, from 0. */
    interface Visitor {
        void visit(int position, Item item);
    }

    void forEach(Visitor visitor) {
        int position = 0;
        for (Item item : items) {
            visitor.visit(position++, item);
        }
    }

    ListModel copy() {
        ListModel copy = new ListModel(firstSequence);
        items.forEach(copy::append);
        return copy;
    }

    /** One number for the values and their order, wherever the list starts. */
    long digest() {
        long digest = items.size();
        for (Item item : items) {
            digest = Values.combine(digest, item.fingerprint());
        }
        return digest;
    }

    /** Describes the last value, for failure reports. */
    String last() {
        return items.isEmpty() ? "nothing" : items.getLast().origin();
    }

    /** Describes how this list and the found one differ; null when they are equal. */
    @Nullable
    String difference(ListModel found) {
        if (firstSequence != found.firstSequence || nextSequence() != found.nextSequence()) {
            return "should hold sequences " + range() + ", holds " + found.range() + firstUnlike(found);
        }
        String unlike = firstUnlike(found);
        return unlike.isEmpty() ? null : "holds " + range() + unlike;
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

    private String range() {
        return "[" + firstSequence + ", " + nextSequence() + ")";
    }
}
