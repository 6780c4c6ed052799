package io.caravan.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import jetbrains.exodus.ArrayByteIterable;
import jetbrains.exodus.ByteIterable;
import jetbrains.exodus.bindings.LongBinding;
import jetbrains.exodus.env.Cursor;
import jetbrains.exodus.env.Environment;
import jetbrains.exodus.env.EnvironmentConfig;
import jetbrains.exodus.env.Environments;
import jetbrains.exodus.env.Store;
import jetbrains.exodus.env.StoreConfig;
import jetbrains.exodus.env.Transaction;
import org.jspecify.annotations.Nullable;

/**
 * A Xodus environment with a key for each entry, in a Xodus store without duplicates.
 *
 * <p>A batch is one exclusive transaction. When synced, its log writes are durable ({@code setLogDurableWrite}).
 * Statistics and management beans are off. A reader uses one read-only transaction for each list.
 */
final class XodusStore implements PeerStore {
    private final Environment environment;
    private final Store entries;
    private @Nullable Transaction batch;
    private long number;

    XodusStore(Path directory, boolean synced) {
        EnvironmentConfig config = new EnvironmentConfig();
        config.setLogDurableWrite(synced).setEnvGatherStatistics(false).setManagementEnabled(false);
        environment = Environments.newInstance(directory.toFile(), config);
        entries = environment.computeInTransaction(
                transaction -> environment.openStore("entries", StoreConfig.WITHOUT_DUPLICATES, transaction));
        number = environment.computeInReadonlyTransaction(entries::count);
    }

    @Override
    public void append(long id, byte[] value) {
        Transaction open = batch;
        if (open == null) {
            open = environment.beginExclusiveTransaction();
            batch = open;
        }
        entries.put(open, LongBinding.longToEntry(EntryKeys.of(id, number++)), new ArrayByteIterable(value));
    }

    @Override
    public void commit() {
        Transaction open = batch;
        if (open != null) {
            batch = null;
            open.commit();
        }
    }

    @Override
    public PeerReader reader() {
        return new Reader(environment, entries);
    }

    @Override
    public void close() {
        Transaction open = batch;
        if (open != null) {
            open.abort();
        }
        environment.close();
    }

    private record Reader(Environment environment, Store entries) implements PeerReader {
        @Override
        public void read(long id, Sink sink) {
            environment.executeInReadonlyTransaction(transaction -> {
                try (Cursor cursor = entries.openCursor(transaction)) {
                    read(cursor, id, sink);
                }
            });
        }

        private static void read(Cursor cursor, long id, Sink sink) {
            long end = EntryKeys.first(id + 1);
            @Nullable ByteIterable value = cursor.getSearchKeyRange(LongBinding.longToEntry(EntryKeys.first(id)));
            boolean found = value != null;
            while (found && LongBinding.entryToLong(cursor.getKey()) < end) {
                ByteIterable bytes = cursor.getValue();
                sink.value(ByteBuffer.wrap(bytes.getBytesUnsafe(), 0, bytes.getLength()));
                found = cursor.getNext();
            }
        }
    }
}
