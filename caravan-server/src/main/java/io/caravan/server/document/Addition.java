package io.caravan.server.document;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be appended to a document that exists, all or nothing.
 *
 * @param values none only when the document is to be closed; when a content type is told and it is JSON, as {@link
 *     JsonMessages#split} makes them
 * @param close whether these are the document's last values
 * @param contentType the values', which must be the document's; null when it is not told
 * @param streamSeq the writer's own sequence, which must be above the last one told, compared byte by byte; or null
 * @param producer how the producer numbers this append, or null
 */
public record Addition(
        List<byte[]> values,
        boolean close,
        @Nullable String contentType,
        @Nullable String streamSeq,
        @Nullable Producer producer) {
    /** Greatest length of a writer's sequence, in characters. */
    public static final int MAX_STREAM_SEQ_CHARS = 256;

    /**
     * Checks the writer's sequence, which is kept with the document.
     *
     * @throws IllegalArgumentException when it is too long
     */
    public Addition {
        if (streamSeq != null && streamSeq.length() > MAX_STREAM_SEQ_CHARS) {
            throw new IllegalArgumentException("a writer's sequence must be of at most " + MAX_STREAM_SEQ_CHARS
                    + " characters, was of " + streamSeq.length());
        }
    }

    /** What became of it. */
    public enum Result {
        /** The values are appended, or the document is closed, by this request. */
        DONE,
        /** They were, by an earlier request that this one repeats. */
        REPEATED
    }

    /**
     * The document after it.
     *
     * @param info as it then is
     * @param result whether the values were appended just now
     * @param producer the last append of the producer that is known, or null when none was told
     */
    public record Added(
            DocumentInfo info, Result result, @Nullable Producer producer) {}
}
