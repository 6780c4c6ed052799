package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.CLOSED;
import static io.caravan.server.document.DocumentAttributes.FORK;
import static io.caravan.server.document.DocumentAttributes.PRESENT;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes.Fork;
import io.caravan.server.document.DocumentException.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A request to create a document unless a matching document already exists. Follows the rules of the Durable Streams
 * protocol (sections 4.2 and 5.1).
 *
 * @param contentType content type, or null for the type of the fork's source or, without a fork, the default type
 * @param ttlSeconds duration of a sliding expiry
 * @param expiresAtMillis time of expiry, in milliseconds since 1970; cannot be combined with {@code ttlSeconds}
 * @param closed whether to close the document after {@code values}
 * @param values the first values; for a JSON content type, the messages that {@link JsonMessages#forEach} passes to its
 *     action
 * @param fork the document to fork and the fork point, or null
 */
public record CreateRequest(
        @Nullable String contentType,
        OptionalLong ttlSeconds,
        OptionalLong expiresAtMillis,
        boolean closed,
        List<byte[]> values,
        @Nullable ForkPoint fork) {
    /** Maximum length of a chain of forks; limited because a read follows the entire chain. */
    static final int MAX_FORK_DEPTH = 64;

    public static final int MAX_CONTENT_TYPE_CHARS = 256;

    /** Checks the length of the content type, which is stored with the document. */
    public CreateRequest {
        if (contentType != null && contentType.length() > MAX_CONTENT_TYPE_CHARS) {
            throw new IllegalArgumentException("a content type must have at most " + MAX_CONTENT_TYPE_CHARS
                    + " characters, has " + contentType.length());
        }
    }

    /**
     * The point at which to fork a document.
     *
     * @param source the document to fork
     * @param sequence the sequence of the first value that the fork does not share; empty to share all values
     * @param part how much more the fork includes: messages of a JSON document, or bytes of another's next value
     */
    public record ForkPoint(DocumentName source, OptionalLong sequence, long part) {}

    /**
     * The state of a document after its creation.
     *
     * @param created whether this request created the document
     */
    public record Created(DocumentInfo info, boolean created) {}

    /** Creates the document as part of a write, which must have a {@link Prefetch} if the fork point has a part. */
    Created applyTo(DocumentEdits edits, DocumentName name) {
        EditedDocument document = edits.document(name);
        DocumentInfo existing;
        try {
            existing = document.info();
        } catch (DocumentException rejected) {
            if (rejected.reason() != Reason.GONE) {
                throw rejected;
            }
            throw document.rejected(
                    Reason.EXISTS, "is deleted, but its forks still need its values, so the name is taken");
        }
        if (existing != null) {
            checkSame(document, existing);
            return new Created(existing, false);
        }
        if (fork == null) {
            document.attributes(made(type(), ttlSeconds, expiresAtMillis));
        } else {
            fork(edits, document, fork);
        }
        if (!values.isEmpty()) {
            // Values of a request without a content type have not been checked, but a fork of a JSON document accepts
            // only JSON.
            document.append(values, contentType != null, true);
        }
        if (closed) {
            document.attributes(document.attributes().with(CLOSED, PRESENT));
        }
        return new Created(document.existing(), true);
    }

    private String type() {
        return contentType == null ? DocumentAttributes.DEFAULT_CONTENT_TYPE : contentType;
    }

    private boolean expires() {
        return ttlSeconds.isPresent() || expiresAtMillis.isPresent();
    }

    private static DocumentAttributes made(String type, OptionalLong ttl, OptionalLong expiresAt) {
        DocumentAttributes attributes = DocumentAttributes.NONE.withContentType(type);
        if (ttl.isPresent()) {
            return attributes.withTtlSeconds(ttl.getAsLong());
        }
        return expiresAt.isPresent() ? attributes.withExpiresAtMillis(expiresAt.getAsLong()) : attributes;
    }

    private void checkSame(EditedDocument document, DocumentInfo existing) {
        DocumentAttributes is = existing.attributes();
        Fork from = is.get(FORK);
        boolean sameType = fork != null && contentType == null || ContentTypes.same(type(), is.contentType());
        boolean sameExpiry = fork != null && !expires()
                || ttlSeconds.equals(is.ttlSeconds()) && expiresAtMillis.equals(is.expiresAtMillis());
        boolean sameFork = fork == null ? from == null : from != null && samePoint(fork, from, is);
        check(document, sameType, "is of type " + is.contentType());
        check(document, sameExpiry, "expires at another time");
        check(document, closed == is.closed(), is.closed() ? "is closed" : "is not closed");
        check(document, sameFork, "was not forked from there");
    }

    private static boolean samePoint(ForkPoint point, Fork fork, DocumentAttributes attributes) {
        long anchor = attributes.isJson() ? fork.sequence() - fork.part() : fork.sequence();
        return point.source().equals(fork.source())
                && point.part() == fork.part()
                && point.sequence().orElse(anchor) == anchor;
    }

    private static void check(EditedDocument document, boolean same, String otherwise) {
        if (!same) {
            throw document.rejected(Reason.EXISTS, "exists, and " + otherwise);
        }
    }

    private void fork(DocumentEdits edits, EditedDocument document, ForkPoint point) {
        EditedDocument source = edits.document(point.source());
        DocumentInfo info;
        try {
            info = source.info();
        } catch (MovedException moved) {
            throw source.rejected(Reason.SOURCE_NOT_FOUND, "has been moved to " + moved.to() + ": fork it there");
        } catch (DocumentException gone) {
            throw source.rejected(Reason.SOURCE_GONE, "is deleted, and cannot be forked");
        }
        if (info == null) {
            throw source.rejected(Reason.SOURCE_NOT_FOUND, "does not exist, and cannot be forked");
        }
        DocumentAttributes shared = info.attributes();
        if (contentType != null && !ContentTypes.same(contentType, shared.contentType())) {
            throw document.rejected(
                    Reason.CONTENT_TYPE_MISMATCH,
                    "cannot be of type " + contentType + ": its source is of type " + shared.contentType());
        }
        checkDepth(edits, document, shared.get(FORK));
        Fork made = forkAt(source, info, point);
        DocumentAttributes attributes = expires()
                ? made(shared.contentType(), ttlSeconds, expiresAtMillis)
                : made(shared.contentType(), shared.ttlSeconds(), shared.expiresAtMillis());
        document.attributes(attributes.with(FORK, made));
        source.countForks(1);
        if (made.part() > 0 && !shared.isJson()) {
            document.append(List.of(part(source, point, made.sequence())));
        }
    }

    private static void checkDepth(DocumentEdits edits, EditedDocument document, @Nullable Fork sourceFork) {
        int depth = 1;
        for (Fork fork = sourceFork; fork != null; depth++) {
            if (depth == MAX_FORK_DEPTH) {
                throw document.rejected(
                        Reason.FORK_POINT, "would be in a chain of more than " + MAX_FORK_DEPTH + " forks");
            }
            fork = edits.document(fork.source()).attributes().get(FORK);
        }
    }

    private static Fork forkAt(EditedDocument source, DocumentInfo info, ForkPoint point) {
        long anchor = point.sequence().orElse(info.nextSequence());
        boolean json = info.attributes().isJson();
        long sequence = json ? anchor + point.part() : anchor;
        // A trimmed document can be forked at its first retained value: the fork then shares no values.
        if (anchor < info.firstSequence()
                || sequence < anchor
                || sequence > info.nextSequence()
                || !json && point.part() > 0 && anchor == info.nextSequence()) {
            throw source.rejected(
                    Reason.FORK_POINT,
                    "cannot be forked at " + anchor + (point.part() > 0 ? " and " + point.part() : "")
                            + ": it has values from " + info.firstSequence() + " to " + info.nextSequence());
        }
        return new Fork(sequence, point.part(), info.firstSequence(), point.source());
    }

    /** Returns the first bytes of the source's value with this sequence. */
    private static byte[] part(EditedDocument source, ForkPoint point, long sequence) {
        List<byte[]> values = source.values(new SequenceRange(sequence, sequence + 1));
        // If the value must be read first, it is missing here, and the write is repeated.
        byte[] value = values.isEmpty() ? new byte[0] : values.get(0);
        if (point.part() > value.length) {
            throw source.rejected(
                    Reason.FORK_POINT, "cannot be forked " + point.part() + " bytes into a value of " + value.length);
        }
        return Arrays.copyOf(value, (int) point.part());
    }
}
