package io.caravan.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.h2.mvstore.type.LongDataType;

/**
 * The storage engine of the H2 database: a map from key to value, with H2's own types for both and without compression.
 *
 * <p>Only the benchmark commits ({@code autoCommitDisabled}), so no background thread writes in between. When synced,
 * {@code sync()} follows each commit. The cache holds 512 MiB.
 */
final class MvStore implements PeerStore {
    private static final int CACHE_MIB = 512;

    private final boolean synced;
    private final MVStore store;
    private final MVMap<Long, byte[]> entries;
    private long number;

    MvStore(Path directory, boolean synced) {
        this.synced = synced;
        store = new MVStore.Builder()
                .fileName(directory.resolve("entries.mv").toString())
                .autoCommitDisabled()
                .cacheSize(CACHE_MIB)
                .open();
        entries = store.openMap(
                "entries",
                new MVMap.Builder<Long, byte[]>().keyType(LongDataType.INSTANCE).valueType(ByteArrayDataType.INSTANCE));
        number = entries.sizeAsLong();
    }

    @Override
    public void append(long id, byte[] value) {
        entries.put(EntryKeys.of(id, number++), value);
    }

    @Override
    public void commit() {
        store.commit();
        if (synced) {
            store.sync();
        }
    }

    @Override
    public PeerReader reader() {
        return new Reader(entries);
    }

    @Override
    public void close() {
        store.close();
    }

    private record Reader(MVMap<Long, byte[]> entries) implements PeerReader {
        @Override
        public void read(long id, Sink sink) {
            Cursor<Long, byte[]> cursor = entries.cursor(EntryKeys.first(id), EntryKeys.first(id + 1) - 1, false);
            while (cursor.hasNext()) {
                cursor.next();
                sink.value(ByteBuffer.wrap(cursor.getValue()));
            }
        }
    }
}
