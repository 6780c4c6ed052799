package io.caravan.fuzz;

import java.util.List;

/**
 * Something that reads bytes that anybody may have written. The property is the same for all: whatever the bytes, {@link
 * #run} returns, soon, having taken no more memory than it states; the documented exceptions are its business and do not
 * come out.
 */
public interface FuzzTarget {

    /** Sound inputs, from which random ones are made. */
    List<byte[]> samples() throws Exception;

    /** Reads an input. Whatever it throws is a bug. */
    void run(byte[] input) throws Exception;
}
