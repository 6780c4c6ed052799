package io.caravan.fuzz;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Something that reads bytes that anybody may have written. The property is the same for all: whatever the bytes,
 * {@link #run} returns, soon, having taken no more memory than it states; the documented exceptions are its business
 * and do not come out.
 */
public interface FuzzTarget {

    /** Sound inputs, from which random ones are made. */
    List<byte[]> samples() throws Exception;

    /** Reads an input. Whatever it throws is a bug. */
    void run(byte[] input) throws Exception;

    /** A target for a constant: the fuzzer makes a new instance of a test for each of many thousand inputs a second. */
    static FuzzTarget made(Callable<FuzzTarget> maker) {
        try {
            return maker.call();
        } catch (Exception failed) {
            throw new AssertionError("a target could not be made", failed);
        }
    }
}
