package io.caravan.index;

import java.util.NavigableSet;
import java.util.TreeSet;

/** The entries that readers have pinned, by list. Guarded by the store's lock. */
public final class Pins {
    /** The value that stands for no pin: a sequence after all others. */
    static final long NONE = Long.MAX_VALUE;

    private final NavigableSet<Pin> pins = new TreeSet<>();
    private long count;

    /** A pin, which retains the regions of a list's entries from one sequence on, until {@link ListIndex#unpin}. */
    public static final class Pin implements Comparable<Pin> {
        private final int list;
        private final long from;
        private final long number;
        private long freedBytes;

        private Pin(int list, long from, long number) {
            this.list = list;
            this.from = from;
            this.number = number;
        }

        public int list() {
            return list;
        }

        /** Returns the sequence of the first pinned entry. */
        public long from() {
            return from;
        }

        /** Orders pins by list, then by their first sequence, then by age. */
        @Override
        public int compareTo(Pin other) {
            if (list != other.list) {
                return Integer.compare(list, other.list);
            }
            return from != other.from ? Long.compare(from, other.from) : Long.compare(number, other.number);
        }

        /** Returns the total length of the list's values, all before the pin, that were freed since the pin was set. */
        public long freedBytes() {
            return freedBytes;
        }
    }

    Pin add(int list, long from) {
        Pin pin = new Pin(list, from, count++);
        pins.add(pin);
        return pin;
    }

    void remove(Pin pin) {
        pins.remove(pin);
    }

    /** Returns the first pinned sequence of a list, or {@link #NONE}. */
    long first(int list) {
        Pin first = pins.isEmpty() ? null : pins.ceiling(new Pin(list, 0, 0));
        return first == null || first.list != list ? NONE : first.from;
    }

    /** Returns the first list, from this list on, that has a pin, or {@link ListIndex#NONE}. */
    int nextList(int list) {
        Pin next = pins.ceiling(new Pin(list, 0, 0));
        return next == null ? ListIndex.NONE : next.list;
    }

    /** Adds the size of freed values to every pin of a list. The freed values precede all of these pins. */
    void countFreed(int list, long bytes) {
        for (Pin pin : pins.subSet(new Pin(list, 0, 0), new Pin(list + 1, 0, 0))) {
            pin.freedBytes += bytes;
        }
    }
}
