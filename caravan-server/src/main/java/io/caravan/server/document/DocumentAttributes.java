package io.caravan.server.document;

import static io.caravan.server.document.Attribute.encode;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A document's attributes: a typed view of the catalog's {@link Attributes}, which are written in the same batch as the
 * document's values. Immutable; every {@code with} method returns a copy. A value is decoded only when it is used,
 * because most operations need few of the attributes.
 *
 * @param raw the attributes in the encoding of the catalog
 */
public record DocumentAttributes(Attributes raw) {
    /** The attributes of a document that was created by its first append: none. */
    public static final DocumentAttributes NONE = new DocumentAttributes(Attributes.EMPTY);

    /** The content type of a document that was created without one. */
    public static final String DEFAULT_CONTENT_TYPE = "application/octet-stream";

    static final Attribute<String> CONTENT_TYPE = Attribute.text("content-type");
    /** The number of seconds without a read or a write after which the document expires. */
    static final Attribute<Long> TTL = Attribute.number("ttl");
    /** The time at which the document expires, in milliseconds since 1970. */
    static final Attribute<Long> EXPIRES = Attribute.number("expires");
    /** The id of the producer that closed the document; empty if no producer closed it. */
    static final Attribute<String> CLOSED = Attribute.text("closed");
    /** The writer's sequence of the last append that had one ({@link AppendRequest#streamSeq()}). */
    static final Attribute<String> STREAM_SEQ = Attribute.text("stream-seq");

    static final Attribute<Producers> PRODUCERS = new Attribute<>("producers", Producers::encode, Producers::decode);

    static final Attribute<Fork> FORK = new Attribute<>(
            "fork",
            fork -> encode(fork.source().toBytes(), fork.sequence(), fork.part(), fork.firstSequence()),
            bytes -> new Fork(
                    bytes.getLong(), bytes.getLong(), bytes.getLong(), DocumentName.of(Attribute.bytes(bytes))));

    /** The number of existing forks of this document, if any. */
    static final Attribute<Long> FORKS = Attribute.number("forks");
    /** Present if the document is deleted, but kept for its forks. */
    static final Attribute<String> DELETED = Attribute.text("deleted");
    /** The document's first sequence when it was restored from an archive or imported. */
    static final Attribute<Long> START = Attribute.number("start");
    /**
     * Present while the document is invisible because it is being restored: {@link #PRESENT} or {@link #BY_A_CLIENT}.
     */
    static final Attribute<String> RESTORING = Attribute.text("restoring");

    static final Attribute<ArchiveMark> ARCHIVED =
            new Attribute<>("archived", ArchiveMark::encode, ArchiveMark::decode);

    static final Attribute<Ages> AGES =
            new Attribute<>("ages", Ages::encode, bytes -> new Ages(Attribute.numbers(bytes)));

    static final Attribute<Timestamps> TIMESTAMPS =
            new Attribute<>("timestamps", Timestamps::encode, bytes -> new Timestamps(Attribute.numbers(bytes)));

    /** The document in another store from which this document was imported. */
    static final Attribute<Origin> ORIGIN =
            new Attribute<>("origin", origin -> encode(origin.identity(), origin.copiedTo()), bytes -> {
                long copiedTo = bytes.getLong();
                return new Origin(Attribute.text(bytes), copiedTo);
            });

    static final Attribute<Fence> FENCE = new Attribute<>(
            "fence",
            fence -> encode(fence.to().text(), fence.holder()),
            bytes -> new Fence(bytes.getLong(), RedirectTarget.parse(Attribute.text(bytes))));

    /** The server to which the document has moved, and to which clients are redirected. */
    static final Attribute<String> MOVED = Attribute.text("moved");

    /** Attributes that are meaningful only in the document's own store. */
    private static final List<Attribute<?>> OF_THE_STORE =
            List.of(FORK, FORKS, DELETED, START, RESTORING, ARCHIVED, AGES, TIMESTAMPS, ORIGIN, FENCE, MOVED);

    /** Attributes of a visible document that an append must check or change, except the content type. */
    private static final List<Attribute<?>> OF_APPENDS = List.of(TTL, EXPIRES, CLOSED, TIMESTAMPS, FENCE);

    /** The value of an attribute that carries no information beyond its presence. */
    static final String PRESENT = "";
    /** The value of {@link #RESTORING} if a client imports the document in several steps ({@link ImportStep}). */
    static final String BY_A_CLIENT = "\u0001";

    /**
     * The point at which a document was forked from another one. The fork shares the source's values before {@code
     * sequence}, which stay in the source's list. The fork's own values start at {@code sequence}. A document that has
     * forks cannot be trimmed.
     *
     * @param sequence sequence of the first value that the fork does not share
     * @param part requested additional data: the number of messages of a JSON document, which {@code sequence} already
     *     includes, or the number of bytes of the next value, which then form the fork's first own value
     * @param firstSequence sequence of the first shared value that the fork retains
     * @param source the source's name
     */
    record Fork(long sequence, long part, long firstSequence, DocumentName source) {}

    /**
     * Blocks writes to a document that is being moved.
     *
     * @param holder identifies a run of a move: only the run that fenced the document last may continue the move
     * @param to the server to which the document moves
     */
    record Fence(long holder, RedirectTarget to) {}

    public static DocumentAttributes of(Attributes raw) {
        return raw.equals(Attributes.EMPTY) ? NONE : new DocumentAttributes(raw);
    }

    /** Returns the value of an attribute, or null. Fast for a document without attributes, which is the usual case. */
    <T> @Nullable T get(Attribute<T> attribute) {
        byte[] value = raw == Attributes.EMPTY ? null : raw.get(attribute.key());
        return value == null ? null : attribute.decoding().apply(ByteBuffer.wrap(value));
    }

    boolean has(Attribute<?> attribute) {
        return raw != Attributes.EMPTY && raw.get(attribute.key()) != null;
    }

    private OptionalLong number(Attribute<Long> attribute) {
        Long value = get(attribute);
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** Returns a copy with this value of an attribute, or without the attribute if the value is null. */
    <T> DocumentAttributes with(Attribute<T> attribute, @Nullable T value) {
        if (value == null) {
            return has(attribute) ? of(raw.without(attribute.key())) : this;
        }
        return of(raw.with(attribute.key(), attribute.encoding().apply(value)));
    }

    public String contentType() {
        return Objects.requireNonNullElse(get(CONTENT_TYPE), DEFAULT_CONTENT_TYPE);
    }

    /** Whether the document accepts only JSON, so that each value is a JSON text. */
    public boolean isJson() {
        return has(CONTENT_TYPE) && ContentTypes.isJson(contentType());
    }

    public DocumentAttributes withContentType(String type) {
        return with(CONTENT_TYPE, type);
    }

    public OptionalLong ttlSeconds() {
        return number(TTL);
    }

    public DocumentAttributes withTtlSeconds(long seconds) {
        return withoutExpiry().with(TTL, seconds);
    }

    public OptionalLong expiresAtMillis() {
        return number(EXPIRES);
    }

    public DocumentAttributes withExpiresAtMillis(long millis) {
        return withoutExpiry().with(EXPIRES, millis);
    }

    public boolean expires() {
        return has(TTL) || has(EXPIRES);
    }

    public DocumentAttributes withoutExpiry() {
        return with(TTL, null).with(EXPIRES, null);
    }

    /** Whether the time of the document's last use matters. */
    boolean tracksUse() {
        return has(TTL) || importing();
    }

    /** Whether an append neither changes these attributes nor depends on them, except on the content type. */
    boolean leavesAppendsAlone() {
        return visible() && OF_APPENDS.stream().noneMatch(this::has);
    }

    public boolean closed() {
        return has(CLOSED);
    }

    Producers producers() {
        return Objects.requireNonNullElse(get(PRODUCERS), Producers.NONE);
    }

    public long forks() {
        return number(FORKS).orElse(0);
    }

    boolean deleted() {
        return has(DELETED);
    }

    /**
     * Returns the difference between a value's sequence in the document and its sequence in the document's own list. A
     * fork's own values begin at the fork point. The values of a restored or imported document begin at the first
     * sequence that they had in the archive or at the origin.
     */
    public long base() {
        Fork fork = get(FORK);
        return fork == null ? number(START).orElse(0) : fork.sequence();
    }

    DocumentAttributes withStart(long sequence) {
        return with(START, sequence == 0 ? null : sequence);
    }

    boolean restoring() {
        return has(RESTORING);
    }

    /** Whether a client is importing the document in several steps, and has not performed the last step yet. */
    boolean importing() {
        return BY_A_CLIENT.equals(get(RESTORING));
    }

    /** Returns the document's state in the archive, or null if it was never archived or restored. */
    public @Nullable ArchiveMark archived() {
        return get(ARCHIVED);
    }

    public DocumentAttributes withArchived(ArchiveMark mark) {
        return with(ARCHIVED, mark);
    }

    Ages ages() {
        return Objects.requireNonNullElse(get(AGES), Ages.NONE);
    }

    Timestamps timestamps() {
        return Objects.requireNonNullElse(get(TIMESTAMPS), Timestamps.NONE);
    }

    /** Returns the document from which this document was copied; null if it is not a copy or its origin is unknown. */
    public @Nullable Origin origin() {
        return get(ORIGIN);
    }

    /** Returns a copy that records the import of the values before this sequence. */
    DocumentAttributes withCopied(long nextSequence) {
        Origin origin = origin();
        return origin == null ? this : with(ORIGIN, new Origin(origin.identity(), nextSequence));
    }

    public @Nullable RedirectTarget movingTo() {
        Fence fence = get(FENCE);
        return fence == null ? null : fence.to();
    }

    /** Returns the target server of a redirect, or null if these are the attributes of a document. */
    @Nullable
    RedirectTarget movedTo() {
        String text = get(MOVED);
        return text == null ? null : RedirectTarget.parse(text);
    }

    DocumentAttributes withMovedTo(@Nullable RedirectTarget to) {
        return with(MOVED, to == null ? null : to.text());
    }

    /** Whether the document is visible to clients as long as it has not expired. */
    boolean visible() {
        return !has(DELETED) && !has(RESTORING) && !has(MOVED);
    }

    /** Returns the attributes that are meaningful in any store. */
    public Attributes portable() {
        Attributes portable = raw;
        for (Attribute<?> attribute : OF_THE_STORE) {
            portable = has(attribute) ? portable.without(attribute.key()) : portable;
        }
        return portable;
    }

    /** Returns a copy whose portable attributes are replaced by those from another store. */
    public DocumentAttributes withPortable(Attributes other) {
        Attributes replaced = of(other).portable();
        for (Attribute<?> attribute : OF_THE_STORE) {
            byte[] value = raw == Attributes.EMPTY ? null : raw.get(attribute.key());
            replaced = value == null ? replaced : replaced.with(attribute.key(), value);
        }
        return of(replaced);
    }

    /** Returns a hash of {@link #portable()}, for detecting changes. */
    public int portableHash() {
        CRC32C hash = new CRC32C();
        hash.update(portable().encoded());
        return (int) hash.getValue();
    }
}
