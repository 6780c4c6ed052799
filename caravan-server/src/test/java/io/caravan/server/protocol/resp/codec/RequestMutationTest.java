package io.caravan.server.protocol.resp.codec;

import io.caravan.fuzz.MutationPass;
import io.caravan.testing.Rounds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the target of {@link RequestFuzz} with a bounded number of random inputs, in every build. */
@Tag("rounds")
class RequestMutationTest {
    private static final int SEEDS = Rounds.of(4, 40);

    @Test
    void handlesMutatedRequests() throws Exception {
        MutationPass.run(new RequestTarget(), SEEDS, 100);
    }
}
