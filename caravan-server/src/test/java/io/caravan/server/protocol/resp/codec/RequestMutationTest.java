package io.caravan.server.protocol.resp.codec;

import io.caravan.fuzz.MutationPass;
import org.junit.jupiter.api.Test;

/** A bounded pass of random inputs over the target of {@link RequestFuzz}, in every build. */
class RequestMutationTest {
    @Test
    void requests() throws Exception {
        MutationPass.run(new RequestTarget(), 20, 100);
    }
}
