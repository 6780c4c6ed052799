package io.caravan.server.protocol.http;

import io.caravan.fuzz.MutationPass;
import org.junit.jupiter.api.Test;

/** A bounded pass of random inputs over the target of {@link HttpFuzz}, in every build. */
class HttpMutationTest {
    @Test
    void requests() throws Exception {
        MutationPass.run(new HttpTarget(), 20, 100);
    }
}
