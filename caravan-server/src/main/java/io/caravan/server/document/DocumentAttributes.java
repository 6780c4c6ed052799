package io.caravan.server.document;

import io.caravan.catalog.Attributes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A document's attributes: a typed view of the catalog's {@link Attributes}, which are written in the same batch as the
 * values they belong to. Immutable; every {@code with} method returns a copy.
 *
 * <p>The keys and the encoding of their values (numbers take 8 bytes, big-endian):
 *
 * <ul>
 *   <li>{@value #CONTENT_TYPE}: text;
 *   <li>{@value #TTL}: seconds; {@value #EXPIRES}: milliseconds since 1970;
 *   <li>{@value #CLOSED}: the id of the producer that closed the document, empty if no producer closed it;
 *   <li>{@value #STREAM_SEQ}: text; {@value #PRODUCERS}: see {@link Producers};
 *   <li>{@value #FORK}: see {@link Fork}; {@value #FORKS}: number of forks of this document;
 *   <li>{@value #DELETED}: empty; the document is deleted, but kept for its forks;
 *   <li>{@value #START}: sequence of the list's first value, if the document was restored from an archive or imported;
 *   <li>{@value #RESTORING}: the document is being restored, and is not visible yet; empty, or 1 if a client imports it
 *       in parts ({@link DocumentImport});
 *   <li>{@value #ARCHIVED}: see {@link ArchiveMark}; {@value #AGES}: see {@link Ages};
 *   <li>{@value #TIMESTAMPS}: see {@link Timestamps};
 *   <li>{@value #ORIGIN}: see {@link Origin}; the document was imported from another store;
 *   <li>{@value #FENCE}: see {@link Fence}; the document is being moved to another server;
 *   <li>{@value #MOVED}: the text of {@link RedirectTarget}; the document has moved, and clients are redirected.
 * </ul>
 */
public final class DocumentAttributes {
    /** No attributes: those of a document that was created by its first append. */
    public static final DocumentAttributes NONE = new DocumentAttributes(Attributes.EMPTY);

    /** The content type of a document that was never given one. */
    public static final String DEFAULT_CONTENT_TYPE = "application/octet-stream";

    private static final String CONTENT_TYPE = "content-type";
    private static final String TTL = "ttl";
    private static final String EXPIRES = "expires";
    private static final String CLOSED = "closed";
    private static final String STREAM_SEQ = "stream-seq";
    private static final String PRODUCERS = "producers";
    private static final String FORK = "fork";
    private static final String FORKS = "forks";
    private static final String DELETED = "deleted";
    private static final String START = "start";
    private static final String RESTORING = "restoring";
    private static final String ARCHIVED = "archived";
    private static final String AGES = "ages";
    private static final String TIMESTAMPS = "timestamps";
    private static final String ORIGIN = "origin";
    private static final String FENCE = "fence";
    private static final String MOVED = "moved";
    /** Attributes that are meaningful only in the document's own store. */
    private static final List<String> OF_THE_STORE =
            List.of(FORK, FORKS, DELETED, START, RESTORING, ARCHIVED, AGES, TIMESTAMPS, ORIGIN, FENCE, MOVED);

    private static final byte[] PRESENT = {};
    private static final byte[] BY_A_CLIENT = {1};

    private final Attributes raw;

    private DocumentAttributes(Attributes raw) {
        this.raw = raw;
    }

    public static DocumentAttributes of(Attributes raw) {
        return raw.equals(Attributes.EMPTY) ? NONE : new DocumentAttributes(raw);
    }

    Attributes raw() {
        return raw;
    }

    private boolean isNone() {
        return this == NONE;
    }

    /** Returns the content type that was given, or {@link #DEFAULT_CONTENT_TYPE}. */
    public String contentType() {
        String given = text(CONTENT_TYPE);
        return given == null ? DEFAULT_CONTENT_TYPE : given;
    }

    /** Whether each value is a JSON text, and only JSON may be appended. */
    public boolean isJson() {
        return !isNone() && ContentTypes.isJson(contentType());
    }

    public DocumentAttributes withContentType(String type) {
        return with(CONTENT_TYPE, bytes(type));
    }

    /** Returns the number of seconds without a read or a write after which the document expires. */
    public OptionalLong ttlSeconds() {
        return number(TTL);
    }

    /** Replaces any expiry with a sliding one. */
    public DocumentAttributes withTtlSeconds(long seconds) {
        return withoutExpiry().with(TTL, bytes(seconds));
    }

    /** Returns the time at which the document expires, in milliseconds since 1970. */
    public OptionalLong expiresAtMillis() {
        return number(EXPIRES);
    }

    /** Replaces any expiry with a fixed time. */
    public DocumentAttributes withExpiresAtMillis(long millis) {
        return withoutExpiry().with(EXPIRES, bytes(millis));
    }

    /** Whether the document may expire. */
    public boolean expires() {
        return has(TTL) || has(EXPIRES);
    }

    public DocumentAttributes withoutExpiry() {
        return of(raw.without(TTL).without(EXPIRES));
    }

    /** Whether the document is closed: no value can ever be appended again. */
    public boolean closed() {
        return has(CLOSED);
    }

    /** Returns the producer whose append closed the document, or null. */
    @Nullable
    String closedBy() {
        String producer = text(CLOSED);
        return producer == null || producer.isEmpty() ? null : producer;
    }

    DocumentAttributes withClosed(@Nullable String producer) {
        return with(CLOSED, producer == null ? PRESENT : bytes(producer));
    }

    /** Returns the last sequence that a writer sent, or null. */
    @Nullable
    String streamSeq() {
        return text(STREAM_SEQ);
    }

    DocumentAttributes withStreamSeq(String seq) {
        return with(STREAM_SEQ, bytes(seq));
    }

    Producers producers() {
        byte[] encoded = get(PRODUCERS);
        return encoded == null ? Producers.NONE : Producers.decode(encoded);
    }

    DocumentAttributes withProducers(Producers producers) {
        return with(PRODUCERS, producers.encode());
    }

    /** Returns the point at which the document was forked from another one, or null if it is not a fork. */
    @Nullable
    Fork fork() {
        byte[] encoded = get(FORK);
        return encoded == null ? null : Fork.decode(encoded);
    }

    /** Whether the document was forked from another one, and may share values with it. */
    public boolean isFork() {
        return has(FORK);
    }

    DocumentAttributes withFork(Fork fork) {
        return with(FORK, fork.encode());
    }

    /** Returns the number of existing documents that were forked from this one. */
    public long forks() {
        return number(FORKS).orElse(0);
    }

    DocumentAttributes withForks(long count) {
        return count == 0 ? of(raw.without(FORKS)) : with(FORKS, bytes(count));
    }

    /** Whether the document is deleted, but kept for its forks. */
    boolean deleted() {
        return has(DELETED);
    }

    DocumentAttributes withDeleted() {
        return with(DELETED, PRESENT);
    }

    /**
     * Returns the difference between the sequences of the document's values and those of its own list. A fork's own
     * values begin at the fork point, those of a restored or imported document at their first sequence in the archive
     * or at the origin.
     */
    public long base() {
        if (isNone()) {
            return 0;
        }
        Fork fork = fork();
        return fork == null ? number(START).orElse(0) : fork.sequence();
    }

    DocumentAttributes withStart(long sequence) {
        return sequence == 0 ? of(raw.without(START)) : with(START, bytes(sequence));
    }

    /** Whether the document is still being restored, and therefore invisible. */
    boolean restoring() {
        return has(RESTORING);
    }

    DocumentAttributes withRestoring() {
        return with(RESTORING, PRESENT);
    }

    /** Whether a client imports the document in parts, and has not sent the last part. */
    boolean importing() {
        byte[] by = get(RESTORING);
        return by != null && Arrays.equals(by, BY_A_CLIENT);
    }

    DocumentAttributes withImporting() {
        return with(RESTORING, BY_A_CLIENT);
    }

    DocumentAttributes withoutImporting() {
        return of(raw.without(RESTORING));
    }

    /** Returns the document's state in the archive, or null if it was never archived or restored. */
    public @Nullable ArchiveMark archived() {
        byte[] encoded = get(ARCHIVED);
        return encoded == null ? null : ArchiveMark.decode(encoded);
    }

    public DocumentAttributes withArchived(ArchiveMark mark) {
        return with(ARCHIVED, mark.encode());
    }

    DocumentAttributes withoutArchived() {
        return of(raw.without(ARCHIVED));
    }

    /** Returns the arrival times that retention by age uses. */
    Ages ages() {
        byte[] encoded = get(AGES);
        return encoded == null ? Ages.NONE : Ages.decode(encoded);
    }

    DocumentAttributes withAges(Ages ages) {
        return with(AGES, ages.encode());
    }

    /** Returns the ranges of values that are stored with their arrival time. */
    Timestamps timestamps() {
        byte[] encoded = get(TIMESTAMPS);
        return encoded == null ? Timestamps.NONE : Timestamps.decode(encoded);
    }

    DocumentAttributes withTimestamps(Timestamps timestamps) {
        return timestamps.isNone() ? of(raw.without(TIMESTAMPS)) : with(TIMESTAMPS, timestamps.encode());
    }

    /**
     * Returns the document of another store of which this document is a copy; null if this is not a copy, or its origin
     * is unknown.
     */
    public @Nullable Origin origin() {
        byte[] encoded = get(ORIGIN);
        return encoded == null ? null : Origin.decode(encoded);
    }

    DocumentAttributes withOrigin(@Nullable Origin origin) {
        return origin == null ? of(raw.without(ORIGIN)) : with(ORIGIN, origin.encode());
    }

    /** Returns a copy of these attributes that records that the values before this sequence were imported. */
    DocumentAttributes withBrought(long nextSequence) {
        Origin origin = origin();
        return origin == null ? this : withOrigin(new Origin(origin.identity(), nextSequence));
    }

    /**
     * Returns the fence: the run of a move that has fenced the document, and its target. Null if the document is not
     * fenced.
     */
    @Nullable
    Fence fence() {
        byte[] encoded = get(FENCE);
        return encoded == null ? null : Fence.decode(encoded);
    }

    /** Whether the document is being moved to another server, and must not change. */
    boolean fenced() {
        return has(FENCE);
    }

    /** Returns the server to which the document is being moved, or null. */
    public @Nullable RedirectTarget movingTo() {
        Fence fence = fence();
        return fence == null ? null : fence.to();
    }

    DocumentAttributes withFence(Fence fence) {
        return with(FENCE, fence.encode());
    }

    DocumentAttributes withoutFence() {
        return of(raw.without(FENCE));
    }

    /** Returns the server to which this redirect leads, or null if this is a document. */
    @Nullable
    RedirectTarget movedTo() {
        String text = text(MOVED);
        return text == null ? null : RedirectTarget.parse(text);
    }

    DocumentAttributes withMovedTo(@Nullable RedirectTarget to) {
        return to == null ? of(raw.without(MOVED)) : with(MOVED, bytes(to.text()));
    }

    /** Whether clients see the document, unless it has expired. */
    boolean visible() {
        return isNone() || !has(DELETED) && !has(RESTORING) && !has(MOVED);
    }

    /** Returns the attributes that are also valid in another store. */
    public Attributes portable() {
        Attributes portable = raw;
        for (String key : isNone() ? List.<String>of() : OF_THE_STORE) {
            portable = portable.without(key);
        }
        return portable;
    }

    /** Returns these attributes, with the portable ones replaced by those of another store. */
    public DocumentAttributes withPortable(Attributes other) {
        Attributes replaced = of(other).portable();
        for (String key : OF_THE_STORE) {
            byte[] value = raw.get(key);
            replaced = value == null ? replaced : replaced.with(key, value);
        }
        return of(replaced);
    }

    /** Returns a hash of {@link #portable()}, to detect changes. */
    public int portableHash() {
        CRC32C hash = new CRC32C();
        hash.update(portable().encoded());
        return (int) hash.getValue();
    }

    /**
     * Returns the value of a key, or null. Does not search if the document has no attributes, which is the usual case.
     */
    private byte @Nullable [] get(String key) {
        return isNone() ? null : raw.get(key);
    }

    private boolean has(String key) {
        return get(key) != null;
    }

    private DocumentAttributes with(String key, byte[] value) {
        return new DocumentAttributes(raw.with(key, value));
    }

    private @Nullable String text(String key) {
        byte[] value = get(key);
        return value == null ? null : new String(value, StandardCharsets.UTF_8);
    }

    private OptionalLong number(String key) {
        byte[] value = get(key);
        return value == null
                ? OptionalLong.empty()
                : OptionalLong.of(ByteBuffer.wrap(value).getLong());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DocumentAttributes attributes && raw.equals(attributes.raw);
    }

    @Override
    public int hashCode() {
        return raw.hashCode();
    }

    @Override
    public String toString() {
        return raw.toString();
    }
}
