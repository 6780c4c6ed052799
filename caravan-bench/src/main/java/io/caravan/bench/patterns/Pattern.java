package io.caravan.bench.patterns;

import java.io.IOException;

/**
 * One way to write a file.
 *
 * @param granuleBytes all writes must be multiples of this
 */
record Pattern(String name, int granuleBytes, Opener opener) {

    /** Opens a file for writes of one size. */
    @FunctionalInterface
    interface Opener {
        Writer open(PatternFiles files, int writeBytes) throws IOException;
    }

    /** Creates a pattern that can write any size. */
    Pattern(String name, Opener opener) {
        this(name, 1, opener);
    }

    boolean takes(int writeBytes) {
        return writeBytes % granuleBytes == 0;
    }
}
