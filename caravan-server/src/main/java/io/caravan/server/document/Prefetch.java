package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The data that a write needs, but that takes too long to obtain while the document names are locked: values that the
 * write reads, and whether long values are JSON.
 *
 * <p>If an attempt at the write lacks data, the attempt is abandoned ({@link UnpreparedException}). {@link #prepare}
 * obtains all data that this attempt has requested, on a thread that may wait, and the write is attempted again. The
 * values of a document never change while it has the same id, so copies stay valid. Used by one thread at a time, unless
 * {@linkplain #none empty}.
 */
public final class Prefetch {
    /** Maximum total length of JSON that is parsed immediately, on the thread that attempts the write. */
    static final int SHORT_JSON_BYTES = 16 * 1024;
    /** The approximate memory overhead of a copied value, in bytes. */
    private static final int VALUE_OVERHEAD_BYTES = 24;

    private final long maxBytes;
    /** Whether this object contains and records no data, and is shared by many writes. */
    private final boolean shared;
    /** The ranges that the last attempt has requested. */
    private final Set<Range> requested = new LinkedHashSet<>(0);

    private final Map<Range, List<byte[]>> copies = new HashMap<>(0);
    private long copiedBytes;
    private long requestedBytes;
    /** The values that must be JSON, by identity, each with the result of the validation; empty if they are JSON. */
    private final Map<List<byte[]>, Optional<DocumentException>> checked = new IdentityHashMap<>(0);

    private final Map<List<byte[]>, DocumentName> unchecked = new IdentityHashMap<>(0);
    private long shortJsonBytes;

    /** A range of a document's values. */
    private record Range(DocumentName name, long documentId, SequenceRange sequences) {
        boolean follows(Range before) {
            return documentId == before.documentId && sequences.from() == before.sequences.to();
        }
    }

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
        copies.clear();
        copiedBytes = 0;
    }

    /** Begins another attempt, which has requested no data yet. */
    void begin() {
        requested.clear();
        unchecked.clear();
        requestedBytes = 0;
        shortJsonBytes = 0;
    }

    private boolean complete() {
        return unchecked.isEmpty() && copies.keySet().containsAll(requested);
    }

    /** Throws {@link UnpreparedException} if the current attempt has lacked data. */
    void requireComplete() {
        if (!complete()) {
            throw new UnpreparedException(this);
        }
    }

    /** Returns the document's values in this range, or an empty list if they have not been copied yet. */
    List<byte[]> values(DocumentName name, long documentId, SequenceRange range) {
        if (range.count() == 0) {
            return List.of();
        }
        Range wanted = new Range(name, documentId, range);
        requested.add(wanted);
        return copies.getOrDefault(wanted, List.of());
    }

    /**
     * Counts values that the write reads; throws {@link IllegalArgumentException} above the limit. Only a write that
     * reads a single value may exceed the limit.
     */
    void read(List<byte[]> values) {
        for (byte[] value : values) {
            boolean only = requestedBytes == 0;
            requestedBytes += value.length + VALUE_OVERHEAD_BYTES;
            if (requestedBytes > maxBytes && !only) {
                throw tooMuch();
            }
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
    void requireJson(DocumentName name, List<byte[]> values) {
        Optional<DocumentException> known = checked.get(values);
        if (known != null) {
            known.ifPresent(problem -> {
                throw problem;
            });
            return;
        }
        for (byte[] value : values) {
            shortJsonBytes += value.length;
        }
        if (shortJsonBytes <= SHORT_JSON_BYTES) {
            JsonMessages.validate(name, values);
        } else {
            unchecked.put(values, name);
        }
    }

    /** Obtains the data that the last attempt lacked, if any. Called on a thread that may block. */
    void prepare(DocumentReads reads) {
        if (complete()) {
            return;
        }
        // Copies that the last attempt has not requested are of values that have been trimmed.
        copies.keySet().retainAll(requested);
        copiedBytes = copies.values().stream().mapToLong(Prefetch::bytes).sum();
        List<Range> missing =
                requested.stream().filter(range -> !copies.containsKey(range)).toList();
        int from = 0;
        for (int to = 1; to <= missing.size(); to++) {
            if (to == missing.size() || !missing.get(to).follows(missing.get(to - 1))) {
                copy(missing.subList(from, to), reads);
                from = to;
            }
        }
        unchecked.forEach((values, name) -> checked.put(values, problem(name, values)));
        unchecked.clear();
    }

    private static long bytes(List<byte[]> values) {
        return values.stream()
                .mapToLong(value -> value.length + VALUE_OVERHEAD_BYTES)
                .sum();
    }

    /** Copies adjoining ranges in one read, or as many of them as the document has. */
    private void copy(List<Range> adjoining, DocumentReads reads) {
        Copier copier = new Copier();
        Range first = adjoining.get(0);
        SequenceRange wanted = new SequenceRange(
                first.sequences().from(),
                adjoining.get(adjoining.size() - 1).sequences().to());
        try {
            reads.readLocal(
                    first.name(),
                    info -> info.id() == first.documentId() && info.firstSequence() <= wanted.from()
                            ? new SequenceRange(wanted.from(), Math.min(wanted.to(), info.nextSequence()))
                            : SequenceRange.EMPTY,
                    copier);
        } catch (DocumentException changed) {
            // The next attempt finds this change itself, and reports it in the words of its write.
            return;
        }
        int from = 0;
        for (Range range : adjoining) {
            int to = from + (int) range.sequences().count();
            if (to > copier.values.size()) {
                return;
            }
            List<byte[]> values = List.copyOf(copier.values.subList(from, to));
            copiedBytes += bytes(values);
            copies.put(range, values);
            from = to;
        }
    }

    private static Optional<DocumentException> problem(DocumentName name, List<byte[]> values) {
        try {
            JsonMessages.validate(name, values);
            return Optional.empty();
        } catch (DocumentException notJson) {
            return Optional.of(notJson);
        }
    }

    private final class Copier implements DocumentReader {
        private final List<byte[]> values = new ArrayList<>();
        private long bytes;

        @Override
        public void begin(long count) {
            values.clear();
            bytes = 0;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            bytes += value.remaining() + VALUE_OVERHEAD_BYTES;
            if (copiedBytes + bytes > maxBytes && (copiedBytes > 0 || !values.isEmpty())) {
                throw tooMuch();
            }
            values.add(Attribute.bytes(value));
            return true;
        }
    }
}
