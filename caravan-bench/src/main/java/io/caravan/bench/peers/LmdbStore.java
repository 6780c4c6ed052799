package io.caravan.bench.peers;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.Txn;

/**
 * LMDB with a key for each entry, in its fastest mode: writes go through the memory map ({@code MDB_WRITEMAP}).
 *
 * <p>A batch is one write transaction. When synced, its commit waits for the disk; otherwise {@code MDB_NOSYNC} is set.
 * The map is 8 GiB in size, but its file occupies disk space only for the pages in use. A reader keeps one read
 * transaction and renews it for every list.
 */
final class LmdbStore implements PeerStore {
    private static final long MAP_BYTES = 8L << 30;
    private static final byte[] NAME = "entries".getBytes(StandardCharsets.US_ASCII);

    private final Env<ByteBuffer> environment;
    private final Dbi<ByteBuffer> entries;
    private final ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);
    private ByteBuffer buffer = ByteBuffer.allocateDirect(1024);
    private @Nullable Txn<ByteBuffer> batch;
    private long number;

    LmdbStore(Path directory, boolean synced) {
        EnvFlags[] flags = synced
                ? new EnvFlags[] {EnvFlags.MDB_WRITEMAP}
                : new EnvFlags[] {EnvFlags.MDB_WRITEMAP, EnvFlags.MDB_NOSYNC};
        environment = Env.create().setMapSize(MAP_BYTES).setMaxDbs(1).open(directory.toFile(), flags);
        entries = environment.openDbi(NAME, DbiFlags.MDB_CREATE);
        try (Txn<ByteBuffer> reading = environment.txnRead()) {
            number = entries.stat(reading).entries;
        }
    }

    @Override
    public void append(long id, byte[] value) {
        Txn<ByteBuffer> open = batch;
        if (open == null) {
            open = environment.txnWrite();
            batch = open;
        }
        if (value.length > buffer.capacity()) {
            buffer = ByteBuffer.allocateDirect(value.length);
        }
        key.putLong(0, EntryKeys.of(id, number++));
        entries.put(open, key, buffer.clear().put(value).flip());
    }

    @Override
    public void commit() {
        Txn<ByteBuffer> open = batch;
        if (open != null) {
            batch = null;
            try (open) {
                open.commit();
            }
        }
    }

    @Override
    public PeerReader reader() {
        return new Reader(environment.txnRead(), entries);
    }

    @Override
    public void close() {
        Txn<ByteBuffer> open = batch;
        if (open != null) {
            open.close();
        }
        environment.close();
    }

    private static final class Reader implements PeerReader {
        private final Txn<ByteBuffer> transaction;
        private final Cursor<ByteBuffer> cursor;
        private final ByteBuffer first = ByteBuffer.allocateDirect(Long.BYTES);

        Reader(Txn<ByteBuffer> transaction, Dbi<ByteBuffer> entries) {
            this.transaction = transaction;
            cursor = entries.openCursor(transaction);
        }

        @Override
        public void read(long id, Sink sink) {
            transaction.reset();
            transaction.renew();
            cursor.renew(transaction);
            long end = EntryKeys.first(id + 1);
            first.putLong(0, EntryKeys.first(id));
            boolean found = cursor.get(first, GetOp.MDB_SET_RANGE);
            while (found && cursor.key().getLong(0) < end) {
                sink.value(cursor.val());
                found = cursor.next();
            }
        }

        @Override
        public void close() {
            cursor.close();
            transaction.close();
        }
    }
}
