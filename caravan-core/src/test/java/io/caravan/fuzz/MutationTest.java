package io.caravan.fuzz;

import io.caravan.catalog.CatalogEntryTarget;
import io.caravan.testing.Rounds;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs each target of {@link CoreFuzz} with a bounded number of random inputs, in every build. */
@Tag("rounds")
class MutationTest {
    private static final int SEEDS = Rounds.of(2, 40);

    static Stream<Arguments> targets() {
        return Stream.of(
                target("frames", FrameTarget::new, 50),
                target("checkpoint", CheckpointTarget::new, 50),
                target("heap entry", HeapEntryTarget::new, 100),
                target("file header", FileHeaderTarget::new, 100),
                target("catalog entry", CatalogEntryTarget::new, 100),
                target("store", StoreTarget::new, 30));
    }

    private static Arguments target(String name, Callable<FuzzTarget> maker, int inputs) {
        return Arguments.argumentSet(name, maker, inputs);
    }

    @ParameterizedTest
    @MethodSource("targets")
    void everyMutatedInputIsReadOrRejected(Callable<FuzzTarget> maker, int inputs) throws Exception {
        MutationPass.run(maker.call(), SEEDS, inputs);
    }
}
