package io.caravan.server.fuzz;

import io.caravan.fuzz.FuzzTarget;
import io.caravan.fuzz.MutationPass;
import io.caravan.server.archive.format.ManifestTarget;
import io.caravan.server.archive.format.SnapshotTarget;
import io.caravan.server.protocol.http.HttpTarget;
import io.caravan.server.protocol.resp.RequestTarget;
import io.caravan.testing.Rounds;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs each target of {@link ServerFuzz} with a bounded number of random inputs, in every build. */
@Tag("rounds")
class ServerMutationTest {
    private static final int SEEDS = Rounds.of(4, 40);

    static Stream<FuzzTarget> targets() throws Exception {
        return Stream.of(new RequestTarget(), new HttpTarget(), new SnapshotTarget(), new ManifestTarget());
    }

    @ParameterizedTest
    @MethodSource("targets")
    void everyMutatedInputIsReadOrRejected(FuzzTarget target) throws Exception {
        MutationPass.run(target, SEEDS, 100);
    }
}
