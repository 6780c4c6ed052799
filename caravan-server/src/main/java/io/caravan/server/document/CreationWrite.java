package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Creation.Created;
import io.caravan.server.document.Creation.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Creation of documents as the Durable Streams protocol has it (sections 4.2 and 5.1 of its text). */
final class CreationWrite {
    /** A read goes through the whole chain. */
    static final int MAX_FORK_DEPTH = 64;

    private final DocumentEdits edits;
    private final DocumentName name;
    private final Creation creation;
    private final @Nullable SourceValue boundary;

    /**
     * Prepares a creation.
     *
     * @param boundary the source's value of which the fork gets a part, or null when it needs none
     */
    CreationWrite(DocumentEdits edits, DocumentName name, Creation creation, @Nullable SourceValue boundary) {
        this.edits = edits;
        this.name = name;
        this.creation = creation;
        this.boundary = boundary;
    }

    /**
     * A value of a document.
     *
     * @param documentId the document's id
     */
    record SourceValue(long documentId, byte[] value) {}

    Created run() {
        EditedDocument document = edits.document(name);
        DocumentInfo existing;
        try {
            existing = document.info();
        } catch (DocumentException gone) {
            throw exists(
                    "is deleted, but documents that were forked off it still need its values, so the name is taken");
        }
        if (existing != null) {
            checkSame(existing);
            return new Created(existing, Creation.Result.EXISTED);
        }
        ForkPoint point = creation.fork();
        if (point == null) {
            document.create(attributes());
        } else {
            fork(document, point);
        }
        if (!creation.values().isEmpty()) {
            appendFirst(document);
        }
        DocumentInfo made = DocumentReads.required(name, document.info());
        if (creation.closed()) {
            document.attributes(made.attributes().withClosed(null));
        }
        return new Created(DocumentReads.required(name, document.info()), Creation.Result.CREATED);
    }

    /** Values whose type is not told have not been looked at: a fork's may have to be JSON. */
    private void appendFirst(EditedDocument document) {
        if (creation.contentType() == null) {
            document.append(creation.values());
        } else {
            document.appendValid(creation.values());
        }
    }

    private DocumentAttributes attributes() {
        DocumentAttributes attributes = DocumentAttributes.NONE.withContentType(
                creation.contentType() == null ? DocumentAttributes.DEFAULT_CONTENT_TYPE : creation.contentType());
        return withExpiry(attributes, creation.ttlSeconds(), creation.expiresAtMillis());
    }

    private static DocumentAttributes withExpiry(
            DocumentAttributes attributes, OptionalLong ttl, OptionalLong expiresAt) {
        if (ttl.isPresent()) {
            return attributes.withTtlSeconds(ttl.getAsLong());
        }
        return expiresAt.isPresent() ? attributes.withExpiresAtMillis(expiresAt.getAsLong()) : attributes;
    }

    private void checkSame(DocumentInfo existing) {
        DocumentAttributes is = existing.attributes();
        Fork fork = is.fork();
        ForkPoint point = creation.fork();
        boolean inherits = point != null;
        String type = creation.contentType() == null ? DocumentAttributes.DEFAULT_CONTENT_TYPE : creation.contentType();
        check(
                inherits && creation.contentType() == null || ContentTypes.same(type, is.contentType()),
                "exists, and is of type " + is.contentType());
        boolean noExpiry =
                creation.ttlSeconds().isEmpty() && creation.expiresAtMillis().isEmpty();
        check(
                inherits && noExpiry
                        || creation.ttlSeconds().equals(is.ttlSeconds())
                                && creation.expiresAtMillis().equals(is.expiresAtMillis()),
                "exists, and expires otherwise");
        check(creation.closed() == is.closed(), is.closed() ? "exists, and is closed" : "exists, and is not closed");
        check(
                point == null ? fork == null : fork != null && samePoint(point, fork, is),
                "exists, and was forked otherwise");
    }

    private static boolean samePoint(ForkPoint point, Fork fork, DocumentAttributes attributes) {
        long anchor = attributes.isJson() ? fork.sequence() - fork.part() : fork.sequence();
        return point.source().equals(fork.source())
                && point.part() == fork.part()
                && point.sequence().orElse(anchor) == anchor;
    }

    private void check(boolean same, String otherwise) {
        if (!same) {
            throw exists(otherwise);
        }
    }

    private DocumentException exists(String problem) {
        return new DocumentException(Reason.EXISTS, name, problem);
    }

    private void fork(EditedDocument document, ForkPoint point) {
        EditedDocument source = edits.document(point.source());
        DocumentInfo info;
        try {
            info = source.info();
        } catch (DocumentException gone) {
            throw new DocumentException(Reason.SOURCE_GONE, point.source(), "is deleted, and cannot be forked");
        }
        if (info == null) {
            throw new DocumentException(
                    Reason.SOURCE_NOT_FOUND, point.source(), "does not exist, and cannot be forked");
        }
        checkType(info);
        checkDepth(info);
        Fork fork = forkPoint(info, point);
        document.create(forkAttributes(info.attributes()).withFork(fork));
        source.forkAdded();
        if (fork.part() > 0 && !info.attributes().isJson()) {
            document.append(List.of(part(info, point)));
        }
    }

    private void checkType(DocumentInfo source) {
        String given = creation.contentType();
        if (given != null && !ContentTypes.same(given, source.attributes().contentType())) {
            throw new DocumentException(
                    Reason.CONTENT_TYPE_MISMATCH,
                    name,
                    "cannot be of type " + given + ": what it is forked off is of type "
                            + source.attributes().contentType());
        }
    }

    private void checkDepth(DocumentInfo source) {
        int depth = 1;
        Fork fork = source.attributes().fork();
        while (fork != null) {
            if (++depth > MAX_FORK_DEPTH) {
                throw new DocumentException(
                        Reason.FORK_POINT, name, "would be a fork of a fork, more than " + MAX_FORK_DEPTH + " deep");
            }
            DocumentInfo above = edits.document(fork.source()).evenDeleted();
            fork = above == null ? null : above.attributes().fork();
        }
    }

    private Fork forkPoint(DocumentInfo source, ForkPoint point) {
        long anchor = point.sequence().orElse(source.nextSequence());
        boolean json = source.attributes().isJson();
        long sequence = json ? anchor + point.part() : anchor;
        // A document that was trimmed can be forked at its first value: the fork then has none of it.
        if (anchor < source.firstSequence()
                || sequence < anchor
                || sequence > source.nextSequence()
                || !json && point.part() > 0 && anchor == source.nextSequence()) {
            throw new DocumentException(
                    Reason.FORK_POINT,
                    point.source(),
                    "cannot be forked at " + anchor + (point.part() > 0 ? " and " + point.part() : "")
                            + ": it has values from " + source.firstSequence() + " to " + source.nextSequence());
        }
        return new Fork(point.source(), sequence, point.part(), source.firstSequence());
    }

    private DocumentAttributes forkAttributes(DocumentAttributes source) {
        DocumentAttributes attributes = DocumentAttributes.NONE.withContentType(source.contentType());
        boolean inherits =
                creation.ttlSeconds().isEmpty() && creation.expiresAtMillis().isEmpty();
        return inherits
                ? withExpiry(attributes, source.ttlSeconds(), source.expiresAtMillis())
                : withExpiry(attributes, creation.ttlSeconds(), creation.expiresAtMillis());
    }

    private byte[] part(DocumentInfo source, ForkPoint point) {
        if (boundary == null || boundary.documentId() != source.id()) {
            throw new DocumentException(
                    Reason.CHANGED_MEANWHILE, point.source(), "was replaced while it was being forked; try again");
        }
        byte[] value = boundary.value();
        if (point.part() > value.length) {
            throw new DocumentException(
                    Reason.FORK_POINT,
                    point.source(),
                    "cannot be forked " + point.part() + " bytes into a value of " + value.length);
        }
        return Arrays.copyOf(value, (int) point.part());
    }
}
