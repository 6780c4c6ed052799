package io.caravan.server.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.caravan.fuzz.FuzzTarget;
import io.caravan.server.archive.format.ManifestTarget;
import io.caravan.server.archive.format.SnapshotTarget;
import io.caravan.server.protocol.http.HttpTarget;
import io.caravan.server.protocol.resp.RequestTarget;
import java.util.List;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Fuzz tests for the code that decodes requests and reads archive objects. A build runs only the samples and the saved
 * inputs.
 */
class ServerFuzz {
    private static final FuzzTarget REQUESTS = FuzzTarget.made(RequestTarget::new);
    private static final FuzzTarget HTTP = FuzzTarget.made(HttpTarget::new);
    private static final FuzzTarget SNAPSHOT = FuzzTarget.made(SnapshotTarget::new);
    private static final FuzzTarget MANIFEST = FuzzTarget.made(ManifestTarget::new);

    static List<byte[]> requests() throws Exception {
        return REQUESTS.samples();
    }

    @MethodSource
    @FuzzTest
    void requests(byte[] input) throws Exception {
        REQUESTS.run(input);
    }

    static List<byte[]> http() throws Exception {
        return HTTP.samples();
    }

    @MethodSource
    @FuzzTest
    void http(byte[] input) throws Exception {
        HTTP.run(input);
    }

    static List<byte[]> snapshot() throws Exception {
        return SNAPSHOT.samples();
    }

    @MethodSource
    @FuzzTest
    void snapshot(byte[] input) throws Exception {
        SNAPSHOT.run(input);
    }

    static List<byte[]> manifest() throws Exception {
        return MANIFEST.samples();
    }

    @MethodSource
    @FuzzTest
    void manifest(byte[] input) throws Exception {
        MANIFEST.run(input);
    }
}
