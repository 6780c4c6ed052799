package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.document.DocumentAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A document that is being sent to a server, and the document found there afterward. */
final class PendingImport {
    /** The maximum difference between two measured expiry times of the same document. */
    private static final long EXPIRY_TOLERANCE_MILLIS = 2_000;

    final byte[] name;
    final Description document;
    /** Values that have not been sent yet. */
    List<byte[]> values = new ArrayList<>();

    long bytes;
    long sent;
    /** The document's id at the server if it is sent in chunks, otherwise -1. */
    long id = -1;

    boolean expired;

    @Nullable
    ClientException problem;

    @Nullable
    DocumentChecksum sum;
    /** The document that the server has under this name after the transfer. */
    @Nullable
    Description there;

    PendingImport(byte[] name, Description document) {
        this.name = name;
        this.document = document;
    }

    /** Whether a document has expired, or will expire within two seconds. */
    static boolean expiresSoon(Description document) {
        return expires(document).orElse(Long.MAX_VALUE) - EXPIRY_TOLERANCE_MILLIS <= System.currentTimeMillis();
    }

    private static OptionalLong expires(Description document) {
        return document.attributes().get("expires") instanceof Long millis
                ? OptionalLong.of(millis)
                : OptionalLong.empty();
    }

    /** Whether two documents have the same type and expiry, and are both closed or both open. */
    static boolean isAlike(Description one, Description other) {
        Map<String, Object> attributes = one.attributes();
        Map<String, Object> others = other.attributes();
        return Arrays.equals(contentType(attributes), contentType(others))
                && attributes.containsKey("closed") == others.containsKey("closed")
                && Objects.equals(attributes.get("ttl"), others.get("ttl"))
                && Math.abs(expires(one).orElse(0) - expires(other).orElse(0)) <= EXPIRY_TOLERANCE_MILLIS;
    }

    /** Returns the content type; documents created over RESP have no type among their attributes. */
    private static byte[] contentType(Map<String, Object> attributes) {
        return (byte[])
                attributes.getOrDefault("content-type", DocumentAttributes.DEFAULT_CONTENT_TYPE.getBytes(UTF_8));
    }

    DocumentChecksum sum() {
        return Objects.requireNonNull(sum);
    }

    OptionalLong expires() {
        return expires(document);
    }

    boolean hasExpired() {
        return expires().orElse(Long.MAX_VALUE) <= System.currentTimeMillis();
    }

    private boolean expiresAlike(Description found) {
        OptionalLong other = expires(found);
        return other.isPresent() && Math.abs(other.getAsLong() - expires().orElse(0)) <= EXPIRY_TOLERANCE_MILLIS;
    }

    /**
     * Whether the server's document may be a copy of this one. If this document was sent, the server's may be longer,
     * because of later appends. If it was not sent, both must end at the same sequence.
     */
    boolean isComparable(boolean resume) {
        return there != null
                && there.first() == document.first()
                && (problem == null ? there.next() >= document.next() : resume && there.next() == document.next());
    }

    boolean readsAtOnce(boolean resume) {
        return isComparable(resume)
                && document.count() > 0
                && there != null
                && there.bytes() >= 0
                && there.bytes() <= Importer.PART_BYTES;
    }

    /**
     * Describes the server's document up to the end of this document. A document that existed before keeps its own
     * attributes, except that an expiry within the tolerance is replaced by that of this document.
     */
    Description wanted() {
        Description found = Objects.requireNonNull(there);
        Map<String, Object> attributes = new HashMap<>(found.attributes());
        if (expires().isPresent() && expiresAlike(found)) {
            attributes.put("expires", expires().getAsLong());
        }
        return new Description(
                found.id(),
                document.first(),
                document.next(),
                found.bytes(),
                problem == null ? document.attributes() : attributes);
    }
}
