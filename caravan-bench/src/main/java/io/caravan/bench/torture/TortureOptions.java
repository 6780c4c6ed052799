package io.caravan.bench.torture;

import java.nio.file.Path;

/**
 * What to torture, and how long.
 *
 * @param directory where the store and the evidence go; is created
 * @param secondsPerRound longest time between a child's store being open and the kill
 * @param workers writing threads in the child
 * @param lists over which they write
 * @param childMain main class of the child: {@link TortureChild} but for tests of the harness
 */
public record TortureOptions(
        int rounds,
        long seed,
        Path directory,
        double secondsPerRound,
        int workers,
        int lists,
        String childMain,
        StoreVerifier verifier) {}
