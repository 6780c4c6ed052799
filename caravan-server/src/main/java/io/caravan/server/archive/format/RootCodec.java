package io.caravan.server.archive.format;

/** An archive's root as bytes, see {@link SealedJson} and {@code docs/FORMAT.md}. For any thread. */
public final class RootCodec {
    /** The format that a root begins with. */
    public static final String FORMAT = "caravan-archive";
    /** The version that this release reads and writes. */
    public static final int VERSION = 1;
    /** No root is longer. */
    public static final int MAX_BYTES = 64 << 10;

    private static final SealedJson<RootJson> JSON = new SealedJson<>(RootJson.class, FORMAT, VERSION, MAX_BYTES);

    private RootCodec() {}

    /** The JSON of a root. */
    record RootJson(String format, int version, String store, long epoch, String owner, long sinceMillis) {}

    /** Writes a root. */
    public static byte[] encode(ArchiveRoot root) {
        check(root);
        return JSON.encode(
                new RootJson(FORMAT, VERSION, root.store().toString(), root.epoch(), root.owner(), root.sinceMillis()));
    }

    /**
     * Reads a root.
     *
     * @param object its key or address, for messages
     * @throws ArchiveException {@code CORRUPT} or {@code VERSION}
     */
    public static ArchiveRoot decode(byte[] bytes, String object) {
        RootJson json = JSON.decode(bytes, object);
        try {
            ArchiveRoot root =
                    new ArchiveRoot(SealedJson.store(json.store()), json.epoch(), json.owner(), json.sinceMillis());
            check(root);
            return root;
        } catch (IllegalArgumentException invalid) {
            throw ArchiveException.corrupt(object, String.valueOf(invalid.getMessage()));
        }
    }

    private static void check(ArchiveRoot root) {
        if (root.epoch() < 0 || root.sinceMillis() < 0) {
            throw new IllegalArgumentException("it cannot have epoch " + root.epoch() + " since " + root.sinceMillis());
        }
    }
}
