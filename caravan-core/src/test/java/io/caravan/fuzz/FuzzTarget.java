package io.caravan.fuzz;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Code under test that reads bytes from an untrusted source. For any bytes, {@link #run} returns quickly and uses no
 * more memory than its limit. It catches the documented exceptions.
 */
public interface FuzzTarget {

    /** Returns intact inputs, from which the fuzzer makes random inputs. */
    List<byte[]> samples() throws Exception;

    /** Reads an input, which may be invalid. Any exception is a bug. */
    void run(byte[] input) throws Exception;

    /**
     * Creates a target to be kept in a constant, because the fuzzer creates thousands of instances of a test class per
     * second.
     */
    static FuzzTarget made(Callable<FuzzTarget> maker) {
        try {
            return maker.call();
        } catch (Exception failed) {
            throw new AssertionError("a target could not be made", failed);
        }
    }
}
