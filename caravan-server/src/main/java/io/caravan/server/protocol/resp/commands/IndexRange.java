package io.caravan.server.protocol.resp.commands;

import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;

/**
 * A range of a list as Redis gives it: positions of the first and the last element, both included, from 0 on, or from
 * the end when negative (-1 is the last element). Positions past the list's ends mean the ends.
 *
 * @param start the first element
 * @param stop the last element
 */
record IndexRange(long start, long stop) {
    private static final int START_WORD = 2;
    private static final int STOP_WORD = 3;

    static IndexRange of(Command command) {
        return new IndexRange(command.number(START_WORD), command.number(STOP_WORD));
    }

    private long first(long length) {
        return start < 0 ? Math.max(0, length + start) : start;
    }

    private long last(long length) {
        return Math.min(length - 1, stop < 0 ? length + stop : stop);
    }

    /** The range's sequences in a list of these. */
    SequenceRange within(long firstSequence, long nextSequence) {
        long length = nextSequence - firstSequence;
        long first = first(length);
        long last = last(length);
        return first > last ? SequenceRange.EMPTY : new SequenceRange(firstSequence + first, firstSequence + last + 1);
    }

    /**
     * How many elements at the head of a list of this length lie outside the range. An empty range is outside of
     * everything.
     *
     * @throws CommandException when elements at the tail would have to go
     */
    long headTrim(long length) {
        long first = first(length);
        long last = last(length);
        if (first > last) {
            return length;
        }
        if (last < length - 1) {
            throw new CommandException(
                    "ERR LTRIM can only drop elements from the head: the range must end with the last"
                            + " element, as in LTRIM key " + start + " -1");
        }
        return first;
    }
}
