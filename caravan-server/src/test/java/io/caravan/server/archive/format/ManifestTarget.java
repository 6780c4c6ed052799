package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.fuzz.FuzzTarget;
import io.caravan.fuzz.MemoryUse;
import java.util.List;

/**
 * A fuzz target that reads arbitrary bytes as a manifest, both unchanged and with a corrected checksum. An accepted
 * manifest must survive encoding and decoding.
 */
public final class ManifestTarget implements FuzzTarget {
    /** The memory that the parser's buffers may use. */
    private static final long FIXED_BYTES = 1 << 20;
    /**
     * The maximum memory per input byte. A generation has about 250 characters of JSON, which are copied several times.
     */
    private static final long TIMES_THE_INPUT = 256;

    @Override
    public List<byte[]> samples() {
        DocumentName name = DocumentName.of("doc");
        byte[] full = ManifestTest.manifest(name).encode();
        byte[] empty = new Manifest(Snapshots.STORE, name, 0, 0, List.of(), null).encode();
        return List.of(full, empty, firstLine(full), firstLine(empty));
    }

    private static byte[] firstLine(byte[] sealed) {
        return new String(sealed, UTF_8).lines().findFirst().orElseThrow().getBytes(UTF_8);
    }

    @Override
    public void run(byte[] input) throws Exception {
        long limit = FIXED_BYTES + TIMES_THE_INPUT * input.length;
        MemoryUse.within(limit, () -> read(input));
        byte[] sealed = ManifestTest.sealed(input);
        MemoryUse.within(limit, () -> read(sealed));
    }

    private static void read(byte[] bytes) {
        Manifest manifest;
        try {
            manifest = Manifest.decode(bytes, "manifests/doc");
        } catch (ArchiveException rejection) {
            if (!String.valueOf(rejection.getMessage()).startsWith("manifests/doc")) {
                throw new AssertionError("an error without a subject", rejection);
            }
            return;
        }
        Manifest again = Manifest.decode(manifest.encode(), "manifests/doc");
        if (!again.equals(manifest)) {
            throw new AssertionError("reads " + manifest + ", which is written as " + again);
        }
    }
}
