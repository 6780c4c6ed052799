package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.testing.Value;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Collects everything that a reader of the log reports, in order. */
final class FoundInLog implements LogVisitor {
    final List<Long> lsns = new ArrayList<>();
    final List<Object> operations = new ArrayList<>();
    final List<Long> segments = new ArrayList<>();
    final List<CorruptStoreException> damage = new ArrayList<>();
    final List<List<Long>> missed = new ArrayList<>();

    record Appended(long id, Value value) {}

    record Trimmed(long id, long first) {}

    record Deleted(long id) {}

    /** Reads until the end of the log. */
    void readAll(LogReader reader) throws IOException {
        boolean more = true;
        while (more) {
            more = reader.next(this);
        }
    }

    @Override
    public void segment(long number, String file) {
        segments.add(number);
    }

    @Override
    public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        add(lsn, new Appended(id, Value.of(sequence, bytes)));
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        add(lsn, new Trimmed(id, firstSequence));
    }

    @Override
    public void delete(long lsn, long id) {
        add(lsn, new Deleted(id));
    }

    private void add(long lsn, Object operation) {
        lsns.add(lsn);
        operations.add(operation);
    }

    @Override
    public void missed(long from, long to) {
        missed.add(List.of(from, to));
    }

    @Override
    public void damaged(CorruptStoreException problem) {
        damage.add(problem);
    }
}
