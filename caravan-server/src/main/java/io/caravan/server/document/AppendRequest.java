package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.CLOSED;
import static io.caravan.server.document.DocumentAttributes.PRESENT;
import static io.caravan.server.document.DocumentAttributes.PRODUCERS;
import static io.caravan.server.document.DocumentAttributes.STREAM_SEQ;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A request to append atomically to an existing document, under the rules of the Durable Streams protocol (sections 5.2
 * and 5.3). The checks run in the protocol's order: closed document, content type, repeated append of a producer, and
 * the writer's sequence.
 *
 * @param name the name of the document
 * @param values the values to append; may be empty only to close the document; for a JSON content type, the messages
 *     that {@link JsonMessages#forEach} passes to its action
 * @param close whether to close the document after these values
 * @param contentType the type of the values, which must match that of the document; null if it is not given
 * @param streamSeq the writer's own sequence, which must be greater than the last one stored with the document,
 *     compared byte by byte; or null
 * @param producer the producer of the append and the number that the producer assigned to it, or null
 * @param sequence required sequence of the first value, if given; checked last, so that a repeated append of a producer
 *     still succeeds
 */
public record AppendRequest(
        DocumentName name,
        List<byte[]> values,
        boolean close,
        @Nullable String contentType,
        @Nullable String streamSeq,
        @Nullable Producer producer,
        OptionalLong sequence)
        implements Append<AppendRequest.Added> {
    public static final int MAX_STREAM_SEQ_CHARS = 256;

    /** Checks the length of the writer's sequence, which is stored with the document. */
    public AppendRequest {
        if (streamSeq != null && streamSeq.length() > MAX_STREAM_SEQ_CHARS) {
            throw new IllegalArgumentException("a writer's sequence must have at most " + MAX_STREAM_SEQ_CHARS
                    + " characters, has " + streamSeq.length());
        }
    }

    /**
     * The state of a document after an append.
     *
     * @param repeated whether this request repeats an earlier one, and changed nothing
     * @param producer the producer's last known append, or null if the request had no producer
     */
    public record Added(
            DocumentInfo info, boolean repeated, @Nullable Producer producer) {}

    @Override
    public boolean needsDraft() {
        return close || producer != null || streamSeq != null;
    }

    @Override
    public boolean onlyValues(DocumentInfo info) {
        // Without a content type, it is not known whether values for a JSON document are JSON.
        return contentType != null && hasType(info) && continues(info);
    }

    /** Whether the document has the content type of the values, if one is given. */
    private boolean hasType(DocumentInfo info) {
        return contentType == null
                || ContentTypes.same(contentType, info.attributes().contentType());
    }

    /** Whether the first value would get the required sequence, if one is given. */
    private boolean continues(DocumentInfo info) {
        return sequence.isEmpty() || sequence.getAsLong() == info.nextSequence();
    }

    @Override
    public Added result(DocumentInfo info) {
        return new Added(info, false, producer);
    }

    @Override
    public Added apply(DocumentEdits edits) {
        return applyTo(edits.document(name));
    }

    /**
     * Applies the append within a write.
     *
     * @throws DocumentException {@code NOT_FOUND}, {@code GONE}, {@code CLOSED}, {@code CONTENT_TYPE_MISMATCH}, {@code
     *     NOT_JSON}, {@code STREAM_SEQ_REGRESSION}, {@code SEQUENCE_CONFLICT}, {@code PRODUCER_FENCED}, {@code
     *     PRODUCER_GAP}, {@code PRODUCER_EPOCH_START}
     */
    public Added applyTo(EditedDocument document) {
        DocumentInfo info = document.existing();
        DocumentAttributes attributes = info.attributes();
        if (attributes.closed()) {
            return toClosed(document, info);
        }
        if (!values.isEmpty() && !hasType(info)) {
            throw document.rejected(
                    Reason.CONTENT_TYPE_MISMATCH, "is of type " + attributes.contentType() + ", not " + contentType);
        }
        if (producer != null) {
            Producer known = attributes.producers().find(producer.id());
            if (repeats(document, producer, known)) {
                return new Added(info, true, known);
            }
        }
        checkStreamSeq(document, attributes.get(STREAM_SEQ));
        if (!continues(info)) {
            String problem = "continues with sequence " + info.nextSequence() + ", not " + sequence.getAsLong();
            throw document.rejected(Reason.SEQUENCE_CONFLICT, problem, sequence.getAsLong(), info.nextSequence());
        }
        return append(document, attributes);
    }

    private Added toClosed(EditedDocument document, DocumentInfo info) {
        boolean repeated = producer == null
                ? close && values.isEmpty()
                : producer.id().equals(info.attributes().get(CLOSED))
                        && producer.equals(info.attributes().producers().find(producer.id()));
        if (!repeated) {
            throw document.closed(info);
        }
        return new Added(info, true, producer);
    }

    /** Whether the append repeats an earlier one; throws if the epoch is too old or a sequence is missing. */
    private static boolean repeats(EditedDocument document, Producer producer, @Nullable Producer known) {
        boolean first = known == null || producer.epoch() > known.epoch();
        if (known != null && first && producer.sequence() > 0) {
            String problem = "received the new epoch " + producer.epoch() + " of producer " + producer.id()
                    + ", which must begin at 0, not " + producer.sequence();
            throw document.rejected(Reason.PRODUCER_EPOCH_START, problem, 0, producer.sequence());
        }
        if (known != null && producer.epoch() < known.epoch()) {
            String problem = "received epoch " + known.epoch() + " of producer " + producer.id()
                    + " before, and this is epoch " + producer.epoch();
            throw document.rejected(Reason.PRODUCER_FENCED, problem, 0, known.epoch());
        }
        long next = known == null || first ? 0 : known.sequence() + 1;
        if (producer.sequence() > next) {
            String problem = "misses appends of producer " + producer.id() + ": expected " + next + ", got "
                    + producer.sequence();
            throw document.rejected(Reason.PRODUCER_GAP, problem, next, producer.sequence());
        }
        return producer.sequence() < next;
    }

    private void checkStreamSeq(EditedDocument document, @Nullable String last) {
        if (streamSeq != null
                && last != null
                && Arrays.compareUnsigned(streamSeq.getBytes(UTF_8), last.getBytes(UTF_8)) <= 0) {
            throw document.rejected(
                    Reason.STREAM_SEQ_REGRESSION,
                    "received the writer's sequence '" + last + "' before, and '" + streamSeq + "' is not greater");
        }
    }

    private Added append(EditedDocument document, DocumentAttributes before) {
        document.append(values, contentType != null, true);
        DocumentAttributes after = before;
        if (producer != null) {
            after = after.with(PRODUCERS, after.producers().with(producer));
        }
        if (streamSeq != null) {
            after = after.with(STREAM_SEQ, streamSeq);
        }
        if (close) {
            after = after.with(CLOSED, producer == null ? PRESENT : producer.id());
        }
        if (!after.equals(before)) {
            document.attributes(after);
        }
        return result(document.existing());
    }
}
