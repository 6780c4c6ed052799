package io.caravan;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Copies entries into a list, up to a limit. */
final class EntryCollector implements EntryStream {
    private final List<Entry> entries = new ArrayList<>();
    private final long limit;

    EntryCollector(int limit) {
        this.limit = Arguments.between(limit, 1, Integer.MAX_VALUE, "limit");
    }

    @Override
    public boolean next(long sequence, ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        entries.add(new Entry(sequence, bytes));
        return entries.size() < limit;
    }

    @Override
    public void finished() {}

    List<Entry> entries() {
        return entries;
    }
}
