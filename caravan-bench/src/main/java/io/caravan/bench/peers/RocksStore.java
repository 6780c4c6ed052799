package io.caravan.bench.peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB with its write-ahead log enabled, and with one key for each entry.
 *
 * <p>Log files are recycled, so that a sync does not have to write the length of a file. Compression is off, because
 * the values are incompressible. The block cache holds 512 MiB. In batches, a commit is one write of everything
 * appended, which is synced if requested. With single puts, each append is an unsynced write, and a commit syncs the
 * log.
 */
final class RocksStore implements PeerStore {
    private static final long CACHE_BYTES = 512L << 20;
    private static final int RECYCLED_LOGS = 4;

    static {
        RocksDB.loadLibrary();
    }

    private final boolean synced;
    private final boolean batches;
    private final LRUCache cache = new LRUCache(CACHE_BYTES);
    private final Options options = new Options();
    private final WriteOptions writeOptions = new WriteOptions();
    private final WriteBatch batch = new WriteBatch();
    private final RocksDB database;
    private final ByteBuffer key = ByteBuffer.allocate(Long.BYTES);
    private long number;

    private RocksStore(Path directory, boolean synced, boolean batches) throws IOException {
        this.synced = synced;
        this.batches = batches;
        options.setCreateIfMissing(true)
                .setRecycleLogFileNum(RECYCLED_LOGS)
                .setCompressionType(CompressionType.NO_COMPRESSION)
                .setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache));
        writeOptions.setSync(synced && batches);
        try {
            database = RocksDB.open(options, directory.toString());
        } catch (RocksDBException problem) {
            throw new IOException("cannot open RocksDB in " + directory, problem);
        }
        number = database.getLatestSequenceNumber();
    }

    static PeerStore batches(Path directory, boolean synced) throws IOException {
        return new RocksStore(directory, synced, true);
    }

    static PeerStore puts(Path directory, boolean synced) throws IOException {
        return new RocksStore(directory, synced, false);
    }

    @Override
    public void append(long id, byte[] value) throws IOException {
        key.putLong(0, EntryKeys.of(id, number++));
        try {
            if (batches) {
                batch.put(key.array(), value);
            } else {
                database.put(writeOptions, key.array(), value);
            }
        } catch (RocksDBException problem) {
            throw new IOException("RocksDB failed to put a value of " + id, problem);
        }
    }

    @Override
    public void commit() throws IOException {
        try {
            if (batches) {
                database.write(writeOptions, batch);
                batch.clear();
            } else if (synced) {
                database.syncWal();
            }
        } catch (RocksDBException problem) {
            throw new IOException("RocksDB failed to commit", problem);
        }
    }

    @Override
    public PeerReader reader() {
        return new Reader(database);
    }

    @Override
    public void close() {
        database.close();
        batch.close();
        writeOptions.close();
        options.close();
        cache.close();
    }

    private static final class Reader implements PeerReader {
        private final RocksDB database;
        private final ByteBuffer first = ByteBuffer.allocate(Long.BYTES);
        private final ByteBuffer end = ByteBuffer.allocate(Long.BYTES);
        private ByteBuffer value = ByteBuffer.allocateDirect(1024);

        Reader(RocksDB database) {
            this.database = database;
        }

        /** Reads each list with its own iterator, which stops at the list's end, so that no key has to be checked. */
        @Override
        public void read(long id, Sink sink) throws IOException {
            first.putLong(0, EntryKeys.first(id));
            end.putLong(0, EntryKeys.first(id + 1));
            try (Slice bound = new Slice(end.array());
                    ReadOptions options = new ReadOptions().setIterateUpperBound(bound);
                    RocksIterator entries = database.newIterator(options)) {
                for (entries.seek(first.array()); entries.isValid(); entries.next()) {
                    sink.value(valueOf(entries));
                }
                entries.status();
            } catch (RocksDBException problem) {
                throw new IOException("RocksDB failed to read " + id, problem);
            }
        }

        private ByteBuffer valueOf(RocksIterator entries) {
            int length = entries.value(value.clear());
            if (length > value.capacity()) {
                value = ByteBuffer.allocateDirect(length);
                entries.value(value.clear());
            }
            return value.position(0).limit(length);
        }
    }
}
