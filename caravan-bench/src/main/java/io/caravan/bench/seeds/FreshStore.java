package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.bench.Directories;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** A fresh store for one piece of work; its files are deleted on close. */
final class FreshStore implements AutoCloseable {
    /** Number of documents that OMGDB's import writes with one force. */
    static final int BATCH = 1_000;

    private static final int LINE_BYTES = 200;

    private final Path path;
    private final StoreConfig config;
    private DurableListStore store;

    FreshStore(Turn turn, Durability level) {
        path = turn.work().resolve("store");
        config = StoreConfig.builder(path).durability(level).build();
        store = DurableListStore.open(config);
    }

    DurableListStore store() {
        return store;
    }

    /** The store's directory. */
    Path path() {
        return path;
    }

    /** Puts one document into each of this many lists, in batches that are waited for. */
    void fill(int documents) throws InterruptedException, ExecutionException {
        for (int first = 0; first < documents; first += BATCH) {
            WriteBatch batch = WriteBatch.create();
            for (int i = first; i < Math.min(documents, first + BATCH); i++) {
                batch.append(i, document(i));
            }
            write(batch);
        }
    }

    /** Writes and waits. */
    void write(WriteBatch batch) throws InterruptedException, ExecutionException {
        CompletableFuture<Long> written = new CompletableFuture<>();
        store.write(batch, WriteCallback.completing(written));
        written.get();
    }

    /** A small JSON document, as bytes. */
    static byte[] document(int number) {
        String head = "{\"id\":" + number + ",\"name\":\"user-" + number + "\",\"text\":\"";
        return (head + "x".repeat(LINE_BYTES - head.length() - 2) + "\"}").getBytes(StandardCharsets.US_ASCII);
    }

    /** Closes and reopens the store. */
    void reopen() {
        store.close();
        store = DurableListStore.open(config);
    }

    @Override
    public void close() throws IOException {
        store.close();
        Directories.delete(path);
    }
}
