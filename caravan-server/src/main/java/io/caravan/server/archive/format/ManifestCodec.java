package io.caravan.server.archive.format;

import io.caravan.server.archive.format.ArchiveException.Reason;

/** Manifests as bytes, see {@link SealedJson} and {@code docs/FORMAT.md}. For any thread. */
public final class ManifestCodec {
    /** What a manifest says that it is. */
    public static final String FORMAT = "caravan-manifest";
    /** The version that this release reads and writes. */
    public static final int VERSION = 1;
    /** No manifest is longer: tens of thousands of generations. */
    public static final int MAX_BYTES = 16 << 20;

    private static final SealedJson<ManifestJson> JSON =
            new SealedJson<>(ManifestJson.class, FORMAT, VERSION, MAX_BYTES);

    private ManifestCodec() {}

    /**
     * Writes a manifest.
     *
     * @throws IllegalArgumentException when it is not as {@link ManifestCheck} says
     * @throws ArchiveException {@code FULL} when it has too many generations
     */
    public static byte[] encode(Manifest manifest) {
        ManifestCheck.check(manifest);
        byte[] bytes = JSON.encode(ManifestJson.of(FORMAT, VERSION, manifest));
        if (bytes.length > MAX_BYTES) {
            throw new ArchiveException(
                    Reason.FULL,
                    ArchiveKeys.manifest(manifest.name()) + ", document '" + manifest.name()
                            + "': there is no room for another generation behind "
                            + manifest.generations().size()
                            + "; run caravan archive prune to remove old ones");
        }
        return bytes;
    }

    /**
     * Reads a manifest. Whether it is that of the document whose key it has is for the caller to compare.
     *
     * @param object its key or address, for messages
     * @throws ArchiveException {@code CORRUPT} or {@code VERSION}
     */
    public static Manifest decode(byte[] bytes, String object) {
        ManifestJson json = JSON.decode(bytes, object);
        try {
            Manifest manifest = json.manifest();
            ManifestCheck.check(manifest);
            return manifest;
        } catch (IllegalArgumentException invalid) {
            throw ArchiveException.corrupt(
                    object + ", document '" + json.name() + "'", String.valueOf(invalid.getMessage()));
        }
    }
}
