package io.caravan.server.protocol.resp.codec;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.caravan.fuzz.FuzzTarget;
import java.util.List;
import org.junit.jupiter.params.provider.MethodSource;

/** A fuzz test of the RESP request decoder. A build runs only the samples and the saved inputs. */
class RequestFuzz {
    private static final FuzzTarget REQUESTS = FuzzTarget.made(RequestTarget::new);

    static List<byte[]> requests() throws Exception {
        return REQUESTS.samples();
    }

    @MethodSource
    @FuzzTest
    void requests(byte[] input) throws Exception {
        REQUESTS.run(input);
    }
}
