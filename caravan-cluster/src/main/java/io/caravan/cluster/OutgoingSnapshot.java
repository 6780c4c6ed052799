package io.caravan.cluster;

import io.caravan.cluster.AppliedIndex.Applied;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * A copy of this node's files that is being sent to another node. One thread produces the chunks, and pauses while two
 * chunks are ready. The receiver requests the chunks one at a time. Thread-safe.
 */
final class OutgoingSnapshot {
    private static final int MOST_READY = 2;
    /** The maximum delay of the reply to a request for a chunk; shorter than the requesting node's timeout. */
    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(1);

    private final long number;
    private final Duration timeout;
    private final Deque<ByteString> ready = new ArrayDeque<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private long next;
    private @Nullable CompletableFuture<ByteString> requested;
    private GroupMember.FileProgress progress = new GroupMember.FileProgress(0, 0);
    private long step;
    private @Nullable Applied start;
    private long goal = -1;

    /** Creates a copy without chunks, which ends if nothing is requested for this time. */
    OutgoingSnapshot(long number, Duration timeout) {
        this.number = number;
        this.timeout = timeout;
    }

    long number() {
        return number;
    }

    synchronized GroupMember.FileProgress progress() {
        return progress;
    }

    /** Returns the first entry of the Raft log to keep for the receiver; null while this entry is unknown. */
    synchronized @Nullable Applied start() {
        return start;
    }

    synchronized void startAt(Applied entry) {
        start = entry;
    }

    /**
     * Returns the entry up to which the Raft log is kept for the receiver: {@code last} of the first call, because a
     * receiver that always lags slightly would otherwise prevent every purge.
     */
    synchronized long goal(long last) {
        goal = goal < 0 ? last : goal;
        return goal;
    }

    /** Returns a future that completes when all chunks are ready or sent, or fails with the copy. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Returns a future that completes with the requested chunk or, if none is ready in time, a {@code WAIT} reply. */
    synchronized CompletableFuture<ByteString> request(long piece) {
        if (ended.isCompletedExceptionally()) {
            return CompletableFuture.failedFuture(new IOException("the transfer has ended", reason()));
        }
        if (piece != next) {
            return CompletableFuture.failedFuture(
                    new IOException("the node requested chunk " + piece + ", but the next chunk is " + next));
        }
        CompletableFuture<ByteString> reply = new CompletableFuture<>();
        ByteString first = ready.pollFirst();
        if (first != null) {
            next++;
            reply.complete(first);
        } else {
            reply.completeOnTimeout(SnapshotMessage.waiting(), REPLY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }
        requested = reply;
        notifyAll();
        return reply;
    }

    private @Nullable Throwable reason() {
        return ended.handle((done, why) -> why).join();
    }

    /** Records the progress of the copy. Returns whether it has reached another step that is to be logged. */
    synchronized boolean reachesStep(long done, long total) {
        progress = new GroupMember.FileProgress(done, total);
        long before = step;
        step = Math.max(before, progress.step());
        return step > before;
    }

    void take(ByteBuffer piece) throws IOException {
        put(SnapshotMessage.piece(progress(), piece));
    }

    /** Adds the final message, with the entry up to which the snapshot is complete. */
    void end(Applied copied) throws IOException {
        put(SnapshotMessage.end(copied));
    }

    private synchronized void put(ByteString message) throws IOException {
        awaitRoom();
        CompletableFuture<ByteString> waiting = requested;
        if (waiting != null && ready.isEmpty() && waiting.complete(message)) {
            next++;
        } else {
            ready.addLast(message);
        }
    }

    /** Waits while two chunks are ready. Only the thread that produces the chunks calls this. */
    private void awaitRoom() throws IOException {
        CompletableFuture<ByteString> last = requested;
        long began = System.nanoTime();
        while (ready.size() >= MOST_READY && !ended.isDone()) {
            if (requested != last) {
                last = requested;
                began = System.nanoTime();
            }
            long left = timeout.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
            if (left <= 0) {
                throw new IOException("it has requested nothing for " + timeout.toSeconds() + " s");
            }
            try {
                wait(left);
            } catch (InterruptedException hurried) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", hurried);
            }
        }
        if (ended.isDone()) {
            throw new IOException("the transfer was ended", reason());
        }
    }

    void succeed() {
        ended.complete(null);
    }

    /** Ends the copy with a failure: no more chunks are sent. */
    synchronized void fail(Throwable why) {
        if (ended.completeExceptionally(why) && requested != null) {
            requested.completeExceptionally(new IOException("the transfer has ended", why));
        }
        notifyAll();
    }
}
