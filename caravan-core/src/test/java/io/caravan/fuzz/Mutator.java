package io.caravan.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Makes random inputs from intact ones: changes bytes, inserts extreme numbers, and moves, cuts, or repeats ranges. */
public final class Mutator {
    private static final int MAX_STEPS = 6;
    private static final int MAX_RUN_BYTES = 64;
    /** The numbers to insert: some header sizes, and every power of two with its neighbors. */
    private static final long[] AWKWARD = LongStream.concat(
                    LongStream.of(-1, 40, 48),
                    IntStream.range(0, Long.SIZE)
                            .mapToLong(bit -> 1L << bit)
                            .flatMap(power -> LongStream.of(power - 1, power, power + 1)))
            .toArray();

    private final List<byte[]> samples;
    private final Random random;

    public Mutator(List<byte[]> samples, Random random) {
        this.samples = samples;
        this.random = random;
    }

    /** Returns the next random input, which sometimes consists only of random bytes. */
    public byte[] next() {
        if (random.nextInt(20) == 0) {
            return noise(random.nextInt(400));
        }
        byte[] bytes = sample().clone();
        for (int steps = 1 + random.nextInt(MAX_STEPS); steps > 0; steps--) {
            bytes = step(bytes);
        }
        return bytes;
    }

    private byte[] sample() {
        return samples.get(random.nextInt(samples.size()));
    }

    private byte[] noise(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private byte[] step(byte[] bytes) {
        if (bytes.length == 0) {
            return noise(1 + random.nextInt(MAX_RUN_BYTES));
        }
        int at = random.nextInt(bytes.length);
        int run = Math.min(bytes.length - at, 1 + random.nextInt(MAX_RUN_BYTES));
        return switch (random.nextInt(9)) {
            case 0 -> {
                bytes[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                yield bytes;
            }
            case 1 -> {
                bytes[at] = (byte) random.nextInt();
                yield bytes;
            }
            case 2 -> withNumber(bytes, at, Short.BYTES);
            case 3 -> withNumber(bytes, at & -Integer.BYTES, Integer.BYTES);
            case 4 -> withNumber(bytes, at & -Long.BYTES, Long.BYTES);
            case 5 -> replaced(bytes, at, run, new byte[0]);
            case 6 -> replaced(bytes, at, 0, Arrays.copyOfRange(bytes, at, at + run));
            case 7 -> spliced(bytes, at, run);
            default -> Arrays.copyOf(bytes, at);
        };
    }

    private byte[] withNumber(byte[] bytes, int at, int size) {
        long near = AWKWARD[random.nextInt(AWKWARD.length)];
        long number = random.nextInt(4) == 0 ? near + random.nextInt(17) - 8 : near;
        for (int i = 0; i < size && at + i < bytes.length; i++) {
            bytes[at + i] = (byte) (number >>> Byte.SIZE * i);
        }
        return bytes;
    }

    /** Replaces a run of bytes with a run of at most the same length from another sample. */
    private byte[] spliced(byte[] bytes, int at, int run) {
        byte[] other = sample();
        if (other.length == 0) {
            return bytes;
        }
        int from = random.nextInt(other.length);
        return replaced(bytes, at, run, Arrays.copyOfRange(other, from, Math.min(other.length, from + run)));
    }

    private static byte[] replaced(byte[] bytes, int at, int length, byte[] by) {
        byte[] result = new byte[bytes.length - length + by.length];
        System.arraycopy(bytes, 0, result, 0, at);
        System.arraycopy(by, 0, result, at, by.length);
        System.arraycopy(bytes, at + length, result, at + by.length, bytes.length - at - length);
        return result;
    }
}
