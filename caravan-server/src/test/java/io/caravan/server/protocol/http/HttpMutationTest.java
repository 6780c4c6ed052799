package io.caravan.server.protocol.http;

import io.caravan.fuzz.MutationPass;
import io.caravan.testing.Rounds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the target of {@link HttpFuzz} with a bounded number of random inputs, in every build. */
@Tag("rounds")
class HttpMutationTest {
    private static final int SEEDS = Rounds.of(4, 40);

    @Test
    void handlesMutatedRequests() throws Exception {
        MutationPass.run(new HttpTarget(), SEEDS, 100);
    }
}
