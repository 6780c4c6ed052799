package io.caravan.fuzz;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * A reader of bytes from an untrusted source. For any bytes, {@link #run} returns quickly and uses no more memory than
 * its limit. It catches the documented exceptions.
 */
public interface FuzzTarget {

    /** Returns intact inputs, from which random ones are made. */
    List<byte[]> samples() throws Exception;

    /** Reads an input. Any exception is a bug. */
    void run(byte[] input) throws Exception;

    /**
     * Creates a target that is kept in a constant, because the fuzzer creates many thousand instances of a test class
     * each second.
     */
    static FuzzTarget made(Callable<FuzzTarget> maker) {
        try {
            return maker.call();
        } catch (Exception failed) {
            throw new AssertionError("a target could not be made", failed);
        }
    }
}
