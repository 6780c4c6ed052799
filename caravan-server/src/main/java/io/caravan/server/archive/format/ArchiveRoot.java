package io.caravan.server.archive.format;

import java.util.UUID;

/**
 * The object that marks a location as an archive, and names its owner. For its bytes, see {@link SealedJson} and {@code
 * docs/internals/archive-format.md}.
 *
 * @param store identity of the store whose documents are in the archive
 * @param epoch number of the owner, which increases by one with each claim
 * @param owner the owner's host and process, in human-readable form
 * @param sinceMillis when the owner took over, by its own clock, in milliseconds since 1970
 */
public record ArchiveRoot(UUID store, long epoch, String owner, long sinceMillis) {
    /** The format name at the start of a root. */
    public static final String FORMAT = "caravan-archive";
    /** The version that this release reads and writes. */
    public static final int VERSION = 1;

    public static final int MAX_BYTES = 64 << 10;

    private static final SealedJson<RootJson> JSON = new SealedJson<>(RootJson.class, FORMAT, VERSION, MAX_BYTES);

    record RootJson(String format, int version, String store, long epoch, String owner, long sinceMillis) {}

    /** Throws an {@link IllegalArgumentException} when a number is below 0. */
    public ArchiveRoot {
        if (epoch < 0 || sinceMillis < 0) {
            throw new IllegalArgumentException("it cannot have epoch " + epoch + " since " + sinceMillis);
        }
    }

    public byte[] encode() {
        return JSON.encode(new RootJson(FORMAT, VERSION, store.toString(), epoch, owner, sinceMillis));
    }

    /**
     * Decodes a root.
     *
     * @param object its key or address, for messages
     * @throws ArchiveException {@code CORRUPT} or {@code VERSION}
     */
    public static ArchiveRoot decode(byte[] bytes, String object) {
        RootJson json = JSON.decode(bytes, object);
        try {
            return new ArchiveRoot(SealedJson.store(json.store()), json.epoch(), json.owner(), json.sinceMillis());
        } catch (IllegalArgumentException invalid) {
            throw ArchiveException.corrupt(object, String.valueOf(invalid.getMessage()));
        }
    }
}
