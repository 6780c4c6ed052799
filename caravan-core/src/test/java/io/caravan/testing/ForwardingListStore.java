package io.caravan.testing;

import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreLayout;
import io.caravan.StoreStats;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;

/** Passes every call on to another store. Tests override the calls that must fail. */
public class ForwardingListStore implements ListStore {
    private final ListStore store;

    public ForwardingListStore(ListStore store) {
        this.store = store;
    }

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        store.append(id, value, callback);
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        store.append(id, value, callback);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        store.write(batch, callback);
    }

    /** Calls {@link #write}, so that a subclass need not override both methods. Waits for space. */
    @Override
    public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        write(batch, callback);
        return true;
    }

    @Override
    public void get(long id, EntryStream stream) {
        store.get(id, stream);
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        store.get(id, fromSequence, stream);
    }

    @Override
    public void getNewestFirst(long id, long beforeSequence, EntryStream stream) {
        store.getNewestFirst(id, beforeSequence, stream);
    }

    @Override
    public void trim(long id, long count, WriteCallback callback) {
        store.trim(id, count, callback);
    }

    @Override
    public void trimTo(long id, long firstSequence, WriteCallback callback) {
        store.trimTo(id, firstSequence, callback);
    }

    @Override
    public void delete(long id, WriteCallback callback) {
        store.delete(id, callback);
    }

    @Override
    public ListInfo info(long id) {
        return store.info(id);
    }

    @Override
    public ListInfo accepted(long id) {
        return store.accepted(id);
    }

    @Override
    public void acceptedLengths(long id, IntPredicate more) {
        store.acceptedLengths(id, more);
    }

    @Override
    public void forEachList(LongConsumer ids) {
        store.forEachList(ids);
    }

    @Override
    public StoreStats stats() {
        return store.stats();
    }

    @Override
    public WriteGroup group() {
        return store.group();
    }

    @Override
    public StoreLayout layout() {
        return store.layout();
    }

    @Override
    public boolean writable() {
        return store.writable();
    }

    @Override
    public void onWritable(Runnable action) {
        store.onWritable(action);
    }

    @Override
    public Executor futureExecutor() {
        return store.futureExecutor();
    }

    @Override
    public void flush() {
        store.flush();
    }

    @Override
    public void checkpoint() {
        store.checkpoint();
    }

    @Override
    public void close() {
        store.close();
    }
}
