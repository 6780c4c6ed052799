package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a document is to be, which is created unless it is that already.
 *
 * @param contentType null for the source's, or the default
 * @param ttlSeconds a sliding expiry
 * @param expiresAtMillis or a moment, in milliseconds since 1970
 * @param closed whether nothing can be appended to {@code values}, ever
 * @param values its first values; when a content type is told and it is JSON, as {@link
 *     JsonMessages#split} makes them
 * @param fork which document it is forked off, or null
 */
public record Creation(
        @Nullable String contentType,
        OptionalLong ttlSeconds,
        OptionalLong expiresAtMillis,
        boolean closed,
        List<byte[]> values,
        @Nullable ForkPoint fork) {
    /** Greatest length of a content type, in characters. */
    public static final int MAX_CONTENT_TYPE_CHARS = 256;

    /**
     * Checks the content type, which is kept with the document.
     *
     * @throws IllegalArgumentException when it is too long
     */
    public Creation {
        if (contentType != null && contentType.length() > MAX_CONTENT_TYPE_CHARS) {
            throw new IllegalArgumentException("a content type must be of at most " + MAX_CONTENT_TYPE_CHARS
                    + " characters, was of " + contentType.length());
        }
    }

    /**
     * Where to fork.
     *
     * @param source the document to fork off
     * @param sequence of the first value that the fork does not have of it; when there is none, all are taken
     * @param part beyond that: messages of a JSON document, bytes of the next value of any other
     */
    public record ForkPoint(DocumentName source, OptionalLong sequence, long part) {}

    /** What became of it. */
    public enum Result {
        CREATED,
        EXISTED
    }

    /**
     * The document after its creation.
     *
     * @param info as it then is
     * @param result whether it was made just now
     */
    public record Created(DocumentInfo info, Result result) {}
}
