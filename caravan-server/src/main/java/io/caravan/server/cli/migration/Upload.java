package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.ImportStep.Replaced;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A document being sent to a server, and the server's document with that name after the upload. A short document is
 * sent in one write. A longer one is sent in chunks, and becomes visible after its last chunk. Not thread-safe.
 */
final class Upload {
    /** The maximum difference between two measured expiry times of the same document. */
    private static final long EXPIRY_TOLERANCE_MILLIS = 2_000;

    private static final String CONTENT_TYPE = "content-type";
    private static final String EXPIRES = "expires";

    private final DocumentClient target;
    private final byte[] name;
    private final boolean isStream;
    private final boolean hasExpired;
    private final DocumentChecksum sum;
    private final Chunk chunk = new Chunk();
    private Description document;
    /** The document's id on the server if it is sent in chunks, otherwise -1. */
    private long id = -1;

    private boolean isLong;
    private @Nullable ClientException problem;
    private @Nullable Description there;

    /**
     * Starts the upload of a document; sends nothing yet.
     *
     * @param document the first sequence and the attributes
     * @param isStream whether the document is a stream: only the attributes of a stream are known, and the boundaries
     *     between values count only if the content type is JSON
     */
    Upload(DocumentClient target, byte[] name, Description document, boolean isStream) {
        this.target = target;
        this.name = name;
        this.document = document.until(document.first());
        this.isStream = isStream;
        this.hasExpired = expiresSoon(document);
        this.sum = new DocumentChecksum(!isStream || ContentTypes.isJson(new String(type(document), UTF_8)));
    }

    /** Whether a document has expired, or will expire within two seconds. */
    static boolean expiresSoon(Description document) {
        return document.attributes().get(EXPIRES) instanceof Long millis
                && millis - EXPIRY_TOLERANCE_MILLIS <= System.currentTimeMillis();
    }

    /** Returns the content type; documents created over RESP have no such attribute. */
    private static byte[] type(Description document) {
        return (byte[]) document.attributes()
                .getOrDefault(CONTENT_TYPE, DocumentAttributes.DEFAULT_CONTENT_TYPE.getBytes(UTF_8));
    }

    byte[] name() {
        return name;
    }

    /** Returns the description of the document at the source, up to the last value received so far. */
    Description description() {
        return document;
    }

    DocumentChecksum sum() {
        return sum;
    }

    /** Returns the description of the document on the server, if {@link #find} has found it. */
    Description there() {
        return Objects.requireNonNull(there);
    }

    boolean exists() {
        return there != null;
    }

    /** Whether the document had expired, or was about to, when the upload began, so that it must not be sent. */
    boolean hasExpired() {
        return hasExpired;
    }

    boolean expiresSoon() {
        return expiresSoon(document);
    }

    /** Whether the document has more values than fit into one request. */
    boolean isLong() {
        return isLong;
    }

    /** Returns the size of the values that have not been sent yet. */
    long bytes() {
        return chunk.bytes();
    }

    /** Returns the reason why the document was not sent, or null if it was sent. */
    @Nullable
    ClientException problem() {
        return problem;
    }

    /** Records the reason why the document is not sent. */
    void reject(ClientException why) {
        problem = why;
    }

    boolean hasRoomFor(byte[] value) {
        return chunk.hasRoomFor(value);
    }

    void add(byte[] value) {
        chunk.add(value);
        sum.value(value);
        document = document.until(document.next() + 1);
    }

    /** Sends a chunk of a long document, unless an earlier one was rejected. */
    void sendChunk(Replaced replaced, RateLimitRetries retries) {
        isLong = true;
        List<byte[]> values = chunk.take();
        if (problem != null) {
            return;
        }
        try {
            if (id < 0) {
                id = retries.call(() -> target.begin(name, document, replaced));
            }
            retries.run(() -> target.add(name, id, document.next() - values.size(), values));
        } catch (ClientException rejection) {
            problem = rejection.ofDocument();
        }
    }

    /** Sends the last chunk of a long document, and makes the document visible. */
    void finish(Replaced replaced, RateLimitRetries retries) {
        sendChunk(replaced, retries);
        try {
            if (problem == null) {
                retries.run(() -> target.end(name, id, document.next()));
            }
        } catch (ClientException rejection) {
            problem = rejection.ofDocument();
        }
        if (problem != null) {
            abandon();
        }
    }

    /** Discards the chunks that were sent. */
    void abandon() {
        if (id >= 0) {
            target.abort(name, id);
        }
    }

    /** Requests the creation of a short document. */
    void requestCreation(Replaced replaced) {
        problem = null;
        target.requestImport(name, document, chunk.values(), replaced);
    }

    void discardValues() {
        chunk.take();
    }

    /** Receives the description of the server's document. */
    void find() {
        there = target.visible();
    }

    /**
     * Whether the server's document may be a copy of this one. If this document was sent, the server's may be longer,
     * because of later appends. If it was not sent, both must end at the same sequence.
     */
    private boolean isComparable(boolean resume) {
        if (there == null || there.first() != document.first()) {
            return false;
        }
        boolean sent = problem == null;
        boolean ends = sent ? there.next() >= document.next() : resume && there.next() == range().next();
        return ends && (sent && !isStream || isAlike(attributes(document), attributes(there), EXPIRY_TOLERANCE_MILLIS));
    }

    /** Returns the attributes to compare. For a stream, these are only the attributes that its server reports. */
    private Map<String, Object> attributes(Description of) {
        Map<String, Object> attributes = new HashMap<>(of.attributes());
        attributes.put(CONTENT_TYPE, type(of));
        if (isStream) {
            attributes.keySet().retainAll(List.of(CONTENT_TYPE, EXPIRES, "ttl", "closed"));
            attributes.replace("closed", new byte[0]);
        }
        return attributes;
    }

    /**
     * Whether two documents have the same attributes, except for a difference of up to this tolerance in the expiry
     * time.
     */
    static boolean isAlike(Map<String, Object> one, Map<String, Object> other, long toleranceMillis) {
        return one.keySet().equals(other.keySet())
                && one.entrySet().stream()
                        .allMatch(attribute -> isAlike(
                                attribute.getValue(),
                                Objects.requireNonNull(other.get(attribute.getKey())),
                                attribute.getKey().equals(EXPIRES) ? toleranceMillis : 0));
    }

    private static boolean isAlike(Object one, Object other, long tolerance) {
        return tolerance > 0 && one instanceof Long number && other instanceof Long otherNumber
                ? Math.abs(number - otherNumber) <= tolerance
                : Arrays.equals(Description.encoded(one), Description.encoded(other));
    }

    /** Returns the range of the server's document to compare with this one. */
    private Description range() {
        boolean bounded = problem == null || sum.isBounded();
        return bounded ? there().until(document.next()) : there();
    }

    private boolean isReadAhead(boolean resume) {
        return isComparable(resume)
                && range().count() > 0
                && there().bytes() >= 0
                && there().bytes() <= Chunk.MAX_BYTES;
    }

    /** Requests the values of the server's document, if they fit into one reply and are needed. */
    void readAhead(boolean resume) {
        if (isReadAhead(resume)) {
            target.requestValues(name, range());
        }
    }

    /** Reads the server's document, and compares it with this one. */
    boolean isSame(boolean resume) throws IOException {
        if (!isComparable(resume)) {
            return false;
        }
        DocumentChecksum found = new DocumentChecksum(sum.isBounded());
        try {
            if (isReadAhead(resume)) {
                for (Value value : target.values(range())) {
                    found.value(value.bytes());
                }
            } else {
                target.read(name, range(), value -> found.value(value.bytes()));
            }
        } catch (ClientException changed) {
            changed.ofDocument();
            return false;
        }
        return found.isSame(sum);
    }
}
