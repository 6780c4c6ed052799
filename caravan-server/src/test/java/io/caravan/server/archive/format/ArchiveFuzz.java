package io.caravan.server.archive.format;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.caravan.fuzz.FuzzTarget;
import java.util.List;
import org.junit.jupiter.params.provider.MethodSource;

/** Fuzz tests for the code that reads archive objects. A build runs only the samples and the saved inputs. */
class ArchiveFuzz {
    private static final FuzzTarget SNAPSHOT = FuzzTarget.made(SnapshotTarget::new);
    private static final FuzzTarget MANIFEST = FuzzTarget.made(ManifestTarget::new);

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
