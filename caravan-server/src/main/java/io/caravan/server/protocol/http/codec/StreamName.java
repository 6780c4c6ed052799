package io.caravan.server.protocol.http.codec;

import io.caravan.catalog.DocumentName;
import java.nio.charset.StandardCharsets;

/** The names of streams: what follows {@value #PREFIX} in a URL's path, percent codes decoded, byte for byte. */
public final class StreamName {
    public static final String PREFIX = "/v1/stream/";

    private static final String RESERVED = "__ds";

    private StreamName() {}

    /** The document that a path names, by what follows the prefix. Throws {@link Problem} when it cannot be a name. */
    public static DocumentName of(String rest) {
        byte[] name = PercentCode.bytes(rest, "the stream's path");
        if (reserved(name)) {
            throw new Problem(
                    501,
                    "reserved",
                    "paths below " + RESERVED + " are reserved for subscriptions, which this server does not have");
        }
        if (name.length == 0) {
            throw new Problem(404, "unknown_path", "a stream's path must not be empty");
        }
        if (name.length > DocumentName.MAX_BYTES) {
            throw new Problem(
                    414,
                    "name_too_long",
                    "a stream's name may have at most " + DocumentName.MAX_BYTES + " bytes, this has " + name.length);
        }
        return DocumentName.of(name);
    }

    /** Checked after decoding, however the name was written in the path. */
    private static boolean reserved(byte[] name) {
        String latin = new String(name, StandardCharsets.ISO_8859_1);
        return latin.equals(RESERVED) || latin.startsWith(RESERVED + "/");
    }

    /** The path of a document's stream. */
    public static String path(DocumentName name) {
        return PREFIX + PercentCode.encode(name.toBytes());
    }
}
