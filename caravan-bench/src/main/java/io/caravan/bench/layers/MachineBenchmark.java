package io.caravan.bench.layers;

import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The lower bounds of copying, checking and timing a value. */
@State(Scope.Thread)
public class MachineBenchmark {
    private static final int TARGET_BYTES = 4 << 20;
    private static final int STEP = 256;

    private final byte[] value = Shape.value();
    private final byte[] target = new byte[TARGET_BYTES];
    private final CRC32C crc = new CRC32C();
    private int at;

    /** Copies the value into memory larger than the first-level caches. */
    @Benchmark
    public byte[] copy() {
        System.arraycopy(value, 0, target, at, value.length);
        at = at + STEP & TARGET_BYTES - 1;
        return target;
    }

    /** Computes the value's checksum. */
    @Benchmark
    public long checksum() {
        crc.reset();
        crc.update(value);
        return crc.getValue();
    }

    /** Reads the clock. */
    @Benchmark
    public long clock() {
        return System.nanoTime();
    }
}
