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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a change needs that takes time to get, and so must be there before its names are locked: values that it reads,
 * and whether long values are JSON.
 *
 * <p>A change is tried. What it lacks is noted, and the try is given up ({@link UnpreparedException}). {@link #prepare}
 * gets what was noted, on a thread that may wait, and the change is tried again. A document's values never change as
 * long as it keeps its id, so copies stay valid, and the next try lacks only what was appended meanwhile. One thread at
 * a time.
 */
public final class Preparation {
    /** JSON of up to this length in all is parsed right away, wherever the change is tried. */
    static final int SHORT_JSON_BYTES = 16 * 1024;
    /** Memory of a value besides its bytes, about. */
    private static final int VALUE_OVERHEAD_BYTES = 24;

    private final long maxBytes;
    /** By document id and first sequence. */
    private @Nullable Map<Long, TreeMap<Long, List<byte[]>>> copies;

    private long copiedBytes;
    /** Results of validation by the identity of the list of values; empty for one that is JSON. */
    private @Nullable Map<List<byte[]>, Optional<DocumentException>> checked;

    private final List<Range> missingValues = new ArrayList<>(0);
    private final List<Unchecked> unchecked = new ArrayList<>(0);
    // Of the current try.
    private long readBytes;
    private long shortJsonBytes;

    /** Part of a document that is to be copied. */
    private record Range(DocumentName name, long documentId, SequenceRange sequences) {}

    /** Values that must be JSON. */
    private record Unchecked(DocumentName name, List<byte[]> values) {}

    /** A change was given up, because it needs more than its preparation has. Nothing has changed. */
    public static final class UnpreparedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnpreparedException() {
            super(null, null, false, false);
        }
    }

    /**
     * Makes an empty preparation.
     *
     * @param maxBytes limit for the values that the change reads, each counted with {@value #VALUE_OVERHEAD_BYTES} bytes more
     */
    public Preparation(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Memory that the copied values take, about. */
    public long copiedBytes() {
        return copiedBytes;
    }

    /**
     * Tries the change.
     *
     * @throws UnpreparedException when it needs more, whatever its result
     */
    <T> T attempt(Function<DocumentEdits, T> change, DocumentEdits edits) {
        readBytes = 0;
        shortJsonBytes = 0;
        T result;
        try {
            result = change.apply(edits);
        } catch (RuntimeException refused) {
            requireComplete();
            throw refused;
        }
        requireComplete();
        return result;
    }

    private void requireComplete() {
        if (!missingValues.isEmpty() || !unchecked.isEmpty()) {
            throw new UnpreparedException();
        }
    }

    /**
     * Values of a document of the store; none when they have yet to be copied.
     *
     * @throws IllegalArgumentException when the change reads too much
     */
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

    /** What was copied from this sequence on. */
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

    /** Notes a missing range; joins it to the last one if it continues that. */
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

    /**
     * Counts values that the change reads.
     *
     * @throws IllegalArgumentException when they are too many
     */
    void read(List<byte[]> values) {
        for (byte[] value : values) {
            readBytes += value.length + VALUE_OVERHEAD_BYTES;
        }
        if (readBytes > maxBytes && values.size() > 1) {
            throw tooMuch();
        }
    }

    private IllegalArgumentException tooMuch() {
        return new IllegalArgumentException("the values to answer take more than " + maxBytes
                + " bytes; use a smaller count or range, or LRANGE outside of a transaction, which streams them");
    }

    /**
     * Validates short values; long ones are noted, for {@link #prepare} to validate.
     *
     * @throws DocumentException {@code NOT_JSON}
     */
    void requireJson(DocumentName name, List<byte[]> values) {
        Optional<DocumentException> known = checked == null ? null : checked.get(values);
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
            unchecked.add(new Unchecked(name, values));
        }
    }

    /** Gets what the last try lacked; for a thread that may wait. */
    void prepare(DocumentReads reads) {
        if (copiedBytes > maxBytes) {
            // Some have been trimmed since; what is left is copied again.
            copies = null;
            copiedBytes = 0;
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
        reads.readLocal(
                range.name(),
                info -> info.id() == range.documentId() && info.firstSequence() <= wanted.from()
                        ? new SequenceRange(wanted.from(), Math.min(wanted.to(), info.nextSequence()))
                        : SequenceRange.EMPTY,
                copier);
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

    /** Keeps the values of a range. */
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
            byte[] copy = new byte[value.remaining()];
            value.get(copy);
            values.add(copy);
            return true;
        }
    }
}
