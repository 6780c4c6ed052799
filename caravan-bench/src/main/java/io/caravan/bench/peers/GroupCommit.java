package io.caravan.bench.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A thread in front of a store, through which many writers share commits. The thread takes all waiting requests,
 * appends their values, commits once, and notifies the writers, while the next batch accumulates. A writer waits for
 * its future.
 *
 * <p>A failed commit fails all its requests. Closing completes earlier requests, and leaves the store open.
 */
public final class GroupCommit implements AutoCloseable {
    private static final Request END = new Request(0, new byte[0]);

    private final PeerStore store;
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::run, "group-commit");

    private static final class Request extends CompletableFuture<Void> {
        private final long id;
        private final byte[] value;

        Request(long id, byte[] value) {
            this.id = id;
            this.value = value;
        }
    }

    /** Starts the thread that appends and commits. From now on, only this thread may append to the store. */
    public GroupCommit(PeerStore store) {
        this.store = store;
        thread.start();
    }

    /** Requests an append; the future completes when the value is committed. */
    public CompletableFuture<Void> append(long id, byte[] value) {
        Request request = new Request(id, value);
        requests.add(request);
        return request;
    }

    private void run() {
        List<Request> batch = new ArrayList<>();
        boolean ended = false;
        while (!ended) {
            batch.clear();
            try {
                batch.add(requests.take());
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return;
            }
            requests.drainTo(batch);
            ended = batch.remove(END);
            commit(batch);
        }
    }

    private void commit(List<Request> batch) {
        try {
            for (Request request : batch) {
                store.append(request.id, request.value);
            }
            store.commit();
            batch.forEach(request -> request.complete(null));
        } catch (IOException | RuntimeException problem) {
            batch.forEach(request -> request.completeExceptionally(problem));
        }
    }

    @Override
    public void close() throws InterruptedException {
        requests.add(END);
        thread.join();
    }
}
