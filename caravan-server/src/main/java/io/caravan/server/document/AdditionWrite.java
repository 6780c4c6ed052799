package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Addition.Added;
import io.caravan.server.document.DocumentException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Appends as the Durable Streams protocol has them (sections 5.2 and 5.3 of its text). The rules are asked in the order
 * that it gives: is the document closed, is the content type its own, is the append one that its producer has made before,
 * is the writer's sequence above the last.
 */
final class AdditionWrite {
    private final EditedDocument document;
    private final Addition addition;
    private final DocumentName name;

    AdditionWrite(EditedDocument document, Addition addition) {
        this.document = document;
        this.addition = addition;
        this.name = document.name();
    }

    Added run() {
        DocumentInfo info = document.info();
        if (info == null) {
            throw new DocumentException(Reason.NOT_FOUND, name, "does not exist");
        }
        if (info.attributes().closed()) {
            return toClosed(info);
        }
        checkContentType(info.attributes());
        Producer known = knownProducer(info.attributes());
        if (repeats(known)) {
            return new Added(info, Addition.Result.REPEATED, known);
        }
        checkStreamSeq(info.attributes());
        return append(info);
    }

    private Added toClosed(DocumentInfo info) {
        Producer producer = addition.producer();
        boolean repeated = producer == null
                ? addition.close() && addition.values().isEmpty()
                : producer.id().equals(info.attributes().closedBy())
                        && producer.equals(info.attributes().producers().find(producer.id()));
        if (!repeated) {
            throw EditedDocument.closed(name, info);
        }
        return new Added(info, Addition.Result.REPEATED, producer);
    }

    private void checkContentType(DocumentAttributes attributes) {
        String given = addition.contentType();
        if (given != null && !addition.values().isEmpty() && !ContentTypes.same(given, attributes.contentType())) {
            throw new DocumentException(
                    Reason.CONTENT_TYPE_MISMATCH, name, "is of type " + attributes.contentType() + ", not " + given);
        }
    }

    private @Nullable Producer knownProducer(DocumentAttributes attributes) {
        Producer producer = addition.producer();
        return producer == null ? null : attributes.producers().find(producer.id());
    }

    /** Whether the append was made before; throws when its producer must not make it now. */
    private boolean repeats(@Nullable Producer known) {
        Producer producer = addition.producer();
        if (producer == null) {
            return false;
        }
        if (known == null || producer.epoch() > known.epoch()) {
            checkFirst(producer, known);
            return false;
        }
        if (producer.epoch() < known.epoch()) {
            throw new DocumentException(
                    Reason.PRODUCER_FENCED,
                    name,
                    "has seen epoch " + known.epoch() + " of producer " + producer.id() + ", this is of epoch "
                            + producer.epoch(),
                    0,
                    known.epoch());
        }
        if (producer.sequence() > known.sequence() + 1) {
            throw gap(producer, known.sequence() + 1);
        }
        return producer.sequence() <= known.sequence();
    }

    private void checkFirst(Producer producer, @Nullable Producer known) {
        if (producer.sequence() == 0) {
            return;
        }
        if (known == null) {
            throw gap(producer, 0);
        }
        throw new DocumentException(
                Reason.PRODUCER_EPOCH_START,
                name,
                "was told of the new epoch " + producer.epoch() + " of producer " + producer.id()
                        + ", which must begin at 0, not " + producer.sequence(),
                0,
                producer.sequence());
    }

    private DocumentException gap(Producer producer, long expected) {
        return new DocumentException(
                Reason.PRODUCER_GAP,
                name,
                "misses appends of producer " + producer.id() + ": expected " + expected + ", got "
                        + producer.sequence(),
                expected,
                producer.sequence());
    }

    private void checkStreamSeq(DocumentAttributes attributes) {
        String given = addition.streamSeq();
        String last = attributes.streamSeq();
        if (given != null
                && last != null
                && Arrays.compareUnsigned(given.getBytes(StandardCharsets.UTF_8), last.getBytes(StandardCharsets.UTF_8))
                        <= 0) {
            throw new DocumentException(
                    Reason.STREAM_SEQ_REGRESSION,
                    name,
                    "has seen the writer's sequence '" + last + "', '" + given + "' is not above it");
        }
    }

    private Added append(DocumentInfo before) {
        if (addition.contentType() == null) {
            document.append(addition.values());
        } else {
            document.appendValid(addition.values());
        }
        DocumentAttributes after = before.attributes();
        Producer producer = addition.producer();
        if (producer != null) {
            after = after.withProducers(after.producers().with(producer));
        }
        if (addition.streamSeq() != null) {
            after = after.withStreamSeq(addition.streamSeq());
        }
        if (addition.close()) {
            after = after.withClosed(producer == null ? null : producer.id());
        }
        if (!after.equals(before.attributes())) {
            document.attributes(after);
        }
        return new Added(
                new DocumentInfo(
                        before.id(),
                        before.firstSequence(),
                        before.nextSequence() + addition.values().size(),
                        after),
                Addition.Result.DONE,
                producer);
    }
}
