package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The data that a write needs, but that takes too long to obtain while the document names are locked: values that the
 * write reads, and whether long values are JSON.
 *
 * <p>If an attempt at the write lacks data, the missing data is recorded, and the attempt is abandoned ({@link
 * UnpreparedException}). {@link #prepare} obtains the recorded data, on a thread that may wait, and the write is
 * attempted again. The values of a document never change while it has the same id, so copies stay valid, and the next
 * attempt lacks only values that were appended in the meantime. Used by one thread at a time, unless {@linkplain #none
 * empty}.
 */
public final class Prefetch {
    /** Maximum total length of JSON that is parsed immediately, on the thread that attempts the write. */
    static final int SHORT_JSON_BYTES = 16 * 1024;
    /** The approximate memory overhead of a copied value, in bytes. */
    private static final int VALUE_OVERHEAD_BYTES = 24;

    private final long maxBytes;
    /** Whether this object contains and records no data, and is shared by many writes. */
    private final boolean shared;
    /** The values copied so far, by document id and first sequence. */
    private @Nullable Map<Long, TreeMap<Long, List<byte[]>>> copies;

    private long copiedBytes;
    /** Results of validation, keyed by the identity of the list of values; a result is empty if the values are JSON. */
    private @Nullable Map<List<byte[]>, Optional<DocumentException>> checked;

    private final List<Range> missingValues = new ArrayList<>(0);
    private final List<Unchecked> unchecked = new ArrayList<>(0);

    /** A range of a document's values to copy. */
    private record Range(DocumentName name, long documentId, SequenceRange sequences) {}

    /** Values that must be JSON. */
    private record Unchecked(DocumentName name, List<byte[]> values) {}

    /** Thrown when a write needs more data than its {@link Prefetch} contains. Nothing has changed. */
    public static final class UnpreparedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Prefetch prefetch;

        private UnpreparedException(Prefetch prefetch) {
            super(null, null, false, false);
            this.prefetch = prefetch;
        }

        /** Returns the prefetch that has recorded the missing data. */
        public Prefetch prefetch() {
            return prefetch;
        }
    }

    /**
     * Creates a prefetch that contains no data yet.
     *
     * @param maxBytes limit on the total length of the values that the write reads, each counted with {@value
     *     #VALUE_OVERHEAD_BYTES} additional bytes
     */
    public Prefetch(long maxBytes) {
        this(maxBytes, false);
    }

    private Prefetch(long maxBytes, boolean shared) {
        this.maxBytes = maxBytes;
        this.shared = shared;
    }

    /**
     * Returns an empty prefetch for the first attempts of many writes, few of which need data. A write that does gets
     * one of its {@link #own}. The limit is that of {@link #Prefetch(long)}.
     */
    public static Prefetch none(long maxBytes) {
        return new Prefetch(maxBytes, true);
    }

    /** Returns this prefetch, or a new one if this one is shared. */
    public Prefetch own() {
        return shared ? new Prefetch(maxBytes) : this;
    }

    /** Returns the approximate number of bytes of memory that the copied values occupy. */
    public long copiedBytes() {
        return copiedBytes;
    }

    /** Releases the copied values. The next attempt must copy them again. */
    public void releaseCopies() {
        copies = null;
        copiedBytes = 0;
    }

    /** Throws {@link UnpreparedException} if the current attempt has lacked data. */
    void requireComplete() {
        if (!missingValues.isEmpty() || !unchecked.isEmpty()) {
            throw new UnpreparedException(this);
        }
    }

    /** Returns the document's values in this range, or an empty list if they have not been copied yet. */
    List<byte[]> values(DocumentName name, long documentId, SequenceRange range) {
        List<byte[]> found = List.of();
        long next = range.from();
        while (next < range.to()) {
            List<byte[]> copied = copied(documentId, next);
            if (copied.isEmpty()) {
                lacks(new Range(name, documentId, new SequenceRange(next, range.to())));
                return List.of();
            }
            List<byte[]> part = copied.subList(0, (int) Math.min(copied.size(), range.to() - next));
            found = joined(found, part);
            next += part.size();
        }
        return found;
    }

    /** Returns the copied values starting at this sequence. */
    private List<byte[]> copied(long documentId, long from) {
        Map<Long, TreeMap<Long, List<byte[]>>> all = copies;
        TreeMap<Long, List<byte[]>> ranges = all == null ? null : all.get(documentId);
        Map.Entry<Long, List<byte[]>> range = ranges == null ? null : ranges.floorEntry(from);
        if (range == null || from - range.getKey() >= range.getValue().size()) {
            return List.of();
        }
        return range.getValue()
                .subList((int) (from - range.getKey()), range.getValue().size());
    }

    static List<byte[]> joined(List<byte[]> first, List<byte[]> second) {
        if (first.isEmpty() || second.isEmpty()) {
            return first.isEmpty() ? second : first;
        }
        List<byte[]> joined = new ArrayList<>(first.size() + second.size());
        joined.addAll(first);
        joined.addAll(second);
        return joined;
    }

    /** Records a missing range, or extends the last recorded range if the missing range continues it. */
    private void lacks(Range range) {
        int last = missingValues.size() - 1;
        Range before = last < 0 ? null : missingValues.get(last);
        if (before != null
                && before.documentId() == range.documentId()
                && before.sequences().to() == range.sequences().from()) {
            SequenceRange both = new SequenceRange(
                    before.sequences().from(), range.sequences().to());
            missingValues.set(last, new Range(range.name(), range.documentId(), both));
        } else {
            missingValues.add(range);
        }
    }

    /** Counts values that the write reads; throws {@link IllegalArgumentException} above the limit. */
    void read(List<byte[]> values, DocumentEdits edits) {
        for (byte[] value : values) {
            edits.readBytes += value.length + VALUE_OVERHEAD_BYTES;
        }
        if (edits.readBytes > maxBytes && values.size() > 1) {
            throw tooMuch();
        }
    }

    private IllegalArgumentException tooMuch() {
        return new IllegalArgumentException("the values of the reply take more than " + maxBytes
                + " bytes; use a smaller count or range, or LRANGE outside of a transaction, which streams them");
    }

    /**
     * Validates short values; records long ones for {@link #prepare} to validate.
     *
     * @throws DocumentException {@code NOT_JSON}
     */
    void requireJson(DocumentName name, List<byte[]> values, DocumentEdits edits) {
        Optional<DocumentException> known = checked == null ? null : checked.get(values);
        if (known != null) {
            known.ifPresent(problem -> {
                throw problem;
            });
            return;
        }
        for (byte[] value : values) {
            edits.shortJsonBytes += value.length;
        }
        if (edits.shortJsonBytes <= SHORT_JSON_BYTES) {
            JsonMessages.validate(name, values);
        } else {
            unchecked.add(new Unchecked(name, values));
        }
    }

    /** Obtains the data that the last attempt lacked. Called on a thread that may block. */
    void prepare(DocumentReads reads) {
        if (copiedBytes > maxBytes) {
            // Some of the values have been trimmed; the remaining values are copied again.
            releaseCopies();
        }
        List<Range> ranges = List.copyOf(missingValues);
        List<Unchecked> values = List.copyOf(unchecked);
        missingValues.clear();
        unchecked.clear();
        long most = copiedBytes + maxBytes;
        ranges.forEach(range -> copy(range, reads, most));
        values.forEach(this::check);
    }

    private void copy(Range range, DocumentReads reads, long mostBytes) {
        Copier copier = new Copier(mostBytes - copiedBytes);
        SequenceRange wanted = range.sequences();
        try {
            reads.readLocal(
                    range.name(),
                    info -> info.id() == range.documentId() && info.firstSequence() <= wanted.from()
                            ? new SequenceRange(wanted.from(), Math.min(wanted.to(), info.nextSequence()))
                            : SequenceRange.EMPTY,
                    copier);
        } catch (DocumentException changed) {
            // The next attempt finds this change itself, and reports it in the words of its write.
            return;
        }
        copiedBytes += copier.bytes;
        if (copies == null) {
            copies = new HashMap<>();
        }
        copies.computeIfAbsent(range.documentId(), id -> new TreeMap<>())
                .merge(wanted.from(), copier.values, (one, other) -> one.size() < other.size() ? other : one);
    }

    private void check(Unchecked of) {
        Optional<DocumentException> problem = Optional.empty();
        try {
            JsonMessages.validate(of.name(), of.values());
        } catch (DocumentException notJson) {
            problem = Optional.of(notJson);
        }
        if (checked == null) {
            checked = new IdentityHashMap<>();
        }
        checked.put(of.values(), problem);
    }

    private final class Copier implements DocumentReader {
        private final long mostBytes;
        private final List<byte[]> values = new ArrayList<>();
        private long bytes;

        Copier(long mostBytes) {
            this.mostBytes = mostBytes;
        }

        @Override
        public void begin(long count) {
            values.clear();
            bytes = 0;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            bytes += value.remaining() + VALUE_OVERHEAD_BYTES;
            if (bytes > mostBytes && !values.isEmpty()) {
                throw tooMuch();
            }
            values.add(Attribute.bytes(value));
            return true;
        }
    }
}
