package io.caravan.fuzz;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.caravan.testing.Seeds;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** Runs a target with random inputs. A failure reports the seed, with which {@link Seeds} reproduces it. */
public final class MutationPass {
    /** The time after which a run counts as hanging. No input takes this long, even on a busy machine. */
    private static final Duration HANGS_AFTER = Duration.ofMinutes(5);

    private static final int SHOWN_BYTES = 4096;

    private MutationPass() {}

    /** Runs the target with the samples, and then with this many random inputs from each of this many seeds. */
    public static void run(FuzzTarget target, int seeds, int inputsEach) throws Exception {
        List<byte[]> samples = target.samples();
        for (byte[] sample : samples) {
            runOne(target, sample);
        }
        Seeds.forEach(seeds, seed -> {
            Mutator mutator = new Mutator(samples, new Random(seed));
            for (int i = 0; i < inputsEach; i++) {
                runOne(target, mutator.next());
            }
        });
    }

    private static void runOne(FuzzTarget target, byte[] input) {
        try {
            assertTimeoutPreemptively(HANGS_AFTER, () -> target.run(input));
        } catch (Exception | Error bug) {
            throw new AssertionError(input.length + " bytes: " + shown(input), bug);
        }
    }

    private static String shown(byte[] input) {
        return HexFormat.of().formatHex(input, 0, Math.min(SHOWN_BYTES, input.length));
    }
}
