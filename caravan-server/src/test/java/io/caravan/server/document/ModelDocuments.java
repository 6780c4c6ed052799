package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A model of documents in which every fork has its own copy of its source's values. */
final class ModelDocuments {
    private final Map<DocumentName, Doc> documents = new TreeMap<>(Comparator.comparing(DocumentName::toString));

    private static final class Doc {
        final List<String> values = new ArrayList<>();
        final Map<String, Producer> producers = new HashMap<>();
        final @Nullable ForkPoint fork;
        final long ownFrom;
        String type = DocumentAttributes.DEFAULT_CONTENT_TYPE;
        long first;
        int forks;
        boolean closed;
        boolean deleted;

        @Nullable
        String closedBy;

        Doc(@Nullable ForkPoint fork, long ownFrom) {
            this.fork = fork;
            this.ownFrom = ownFrom;
        }
    }

    /** The visible state of a document, with its values as text. */
    record View(long first, String type, boolean closed, List<String> values) {}

    /**
     * The visible state of all documents, the deleted names, and the numbers of stored documents and lists. A fork has
     * a list only for its own values.
     */
    record Views(Map<DocumentName, View> documents, List<DocumentName> gone, int kept, int lists) {}

    Views views() {
        Map<DocumentName, View> views = new HashMap<>();
        List<DocumentName> gone = new ArrayList<>();
        int lists = 0;
        for (Map.Entry<DocumentName, Doc> entry : documents.entrySet()) {
            Doc doc = entry.getValue();
            lists += doc.values.size() > doc.ownFrom ? 1 : 0;
            if (doc.deleted) {
                gone.add(entry.getKey());
            } else {
                views.put(
                        entry.getKey(),
                        new View(
                                doc.first,
                                doc.type,
                                doc.closed,
                                List.copyOf(doc.values.subList((int) doc.first, doc.values.size()))));
            }
        }
        return new Views(views, gone, documents.size(), lists);
    }

    /** Pushes values, and returns the reason for the rejection, or null if the push is accepted. */
    @Nullable
    Reason push(DocumentName name, List<String> values) {
        Doc doc = documents.get(name);
        if (doc == null) {
            doc = new Doc(null, 0);
            documents.put(name, doc);
        } else if (doc.deleted || doc.closed) {
            return doc.deleted ? Reason.GONE : Reason.CLOSED;
        }
        doc.values.addAll(values);
        return null;
    }

    @Nullable
    Reason add(DocumentName name, List<String> values, boolean close, @Nullable Producer producer) {
        Doc doc = documents.get(name);
        if (doc == null || doc.deleted) {
            return doc == null ? Reason.NOT_FOUND : Reason.GONE;
        }
        if (doc.closed) {
            boolean repeated = producer == null
                    ? close && values.isEmpty()
                    : producer.id().equals(doc.closedBy) && producer.equals(doc.producers.get(producer.id()));
            return repeated ? null : Reason.CLOSED;
        }
        if (producer != null) {
            Producer known = doc.producers.get(producer.id());
            if (known == null || producer.epoch() > known.epoch()) {
                if (producer.sequence() != 0) {
                    return known == null ? Reason.PRODUCER_GAP : Reason.PRODUCER_EPOCH_START;
                }
            } else if (producer.epoch() < known.epoch()) {
                return Reason.PRODUCER_FENCED;
            } else if (producer.sequence() <= known.sequence()) {
                return null;
            } else if (producer.sequence() > known.sequence() + 1) {
                return Reason.PRODUCER_GAP;
            }
            doc.producers.put(producer.id(), producer);
        }
        doc.values.addAll(values);
        doc.closed = close;
        doc.closedBy = close && producer != null ? producer.id() : null;
        return null;
    }

    @Nullable
    Reason create(
            DocumentName name, @Nullable String type, boolean closed, List<String> values, @Nullable ForkPoint point) {
        Doc there = documents.get(name);
        if (there != null) {
            return there.deleted || !same(there, type, closed, point) ? Reason.EXISTS : null;
        }
        Doc doc;
        if (point == null) {
            doc = new Doc(null, 0);
            doc.type = type == null ? doc.type : type;
        } else {
            Doc source = documents.get(point.source());
            if (source == null || source.deleted) {
                return source == null ? Reason.SOURCE_NOT_FOUND : Reason.SOURCE_GONE;
            }
            if (type != null && !type.equals(source.type)) {
                return Reason.CONTENT_TYPE_MISMATCH;
            }
            long at = point.sequence().orElse(source.values.size());
            if (at < source.first || at > source.values.size()) {
                return Reason.FORK_POINT;
            }
            if (point.part() > 0
                    && (at == source.values.size()
                            || point.part() > source.values.get((int) at).length())) {
                return Reason.FORK_POINT;
            }
            doc = new Doc(new ForkPoint(point.source(), OptionalLong.of(at), point.part()), at);
            doc.type = source.type;
            doc.first = source.first;
            doc.values.addAll(source.values.subList(0, (int) at));
            if (point.part() > 0) {
                doc.values.add(source.values.get((int) at).substring(0, (int) point.part()));
            }
            source.forks++;
        }
        doc.values.addAll(values);
        doc.closed = closed;
        documents.put(name, doc);
        return null;
    }

    private static boolean same(Doc there, @Nullable String type, boolean closed, @Nullable ForkPoint point) {
        boolean samePoint = point == null
                ? there.fork == null
                : there.fork != null
                        && point.source().equals(there.fork.source())
                        && point.part() == there.fork.part()
                        && (point.sequence().isEmpty() || point.sequence().equals(there.fork.sequence()));
        String wanted = type == null ? DocumentAttributes.DEFAULT_CONTENT_TYPE : type;
        return samePoint && closed == there.closed && (point != null && type == null || wanted.equals(there.type));
    }

    @Nullable
    Reason trim(DocumentName name, long to) {
        Doc doc = documents.get(name);
        if (doc == null) {
            return null;
        }
        if (doc.deleted) {
            return Reason.GONE;
        }
        if (to > doc.first && doc.forks > 0) {
            return Reason.HAS_FORKS;
        }
        doc.first = Math.max(doc.first, Math.min(to, doc.values.size()));
        return null;
    }

    @Nullable
    Reason delete(DocumentName name) {
        Doc doc = documents.get(name);
        if (doc == null || doc.deleted) {
            return doc == null ? null : Reason.GONE;
        }
        doc.deleted = true;
        collect(name);
        return null;
    }

    private void collect(DocumentName name) {
        Doc doc = Objects.requireNonNull(documents.get(name));
        if (doc.deleted && doc.forks == 0) {
            documents.remove(name);
            if (doc.fork != null) {
                Objects.requireNonNull(documents.get(doc.fork.source())).forks--;
                collect(doc.fork.source());
            }
        }
    }
}
