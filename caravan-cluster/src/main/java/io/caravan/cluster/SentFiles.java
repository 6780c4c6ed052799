package io.caravan.cluster;

import io.caravan.cluster.AppliedMark.Applied;
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
 * One copy of this host's files on its way to another: one thread makes the pieces, and waits while two are ready; the
 * other host asks for them one by one. Thread-safe.
 */
final class SentFiles {
    private static final int MOST_READY = 2;
    /** An answer must not take longer than the other host waits for it. */
    private static final Duration ANSWER = Duration.ofSeconds(1);

    private final long number;
    private final Duration patience;
    private final Deque<ByteString> ready = new ArrayDeque<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private long next;
    private @Nullable CompletableFuture<ByteString> asked;
    private GroupMember.FileProgress progress = new GroupMember.FileProgress(0, 0);
    private @Nullable Applied start;
    private long goal = -1;

    /**
     * A copy of which nothing is ready.
     *
     * @param number what the other host calls it
     * @param patience after so long without a request it ends
     */
    SentFiles(long number, Duration patience) {
        this.number = number;
        this.patience = patience;
    }

    long number() {
        return number;
    }

    synchronized GroupMember.FileProgress progress() {
        return progress;
    }

    /** The Raft log is needed from this entry on; null while this is not known. */
    synchronized @Nullable Applied start() {
        return start;
    }

    synchronized void startAt(Applied entry) {
        start = entry;
    }

    /**
     * How far the other host has to come until it needs the log of the copy's time no more: to the entry of the first call,
     * or the log would be kept for as long as the other host is a little behind.
     */
    synchronized long goal(long last) {
        goal = goal < 0 ? last : goal;
        return goal;
    }

    /** Completes when all was sent; with the reason when it came to nothing. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** The piece of this number, when it is ready. */
    synchronized CompletableFuture<ByteString> ask(long piece) {
        if (ended.isCompletedExceptionally()) {
            return CompletableFuture.failedFuture(new IOException("the copy has ended", reason()));
        }
        if (piece != next) {
            return CompletableFuture.failedFuture(
                    new IOException("piece " + piece + " was asked for, but the next one is " + next));
        }
        CompletableFuture<ByteString> answer = new CompletableFuture<>();
        ByteString first = ready.pollFirst();
        if (first != null) {
            next++;
            answer.complete(first);
        } else {
            answer.completeOnTimeout(FileMessage.waiting(), ANSWER.toMillis(), TimeUnit.MILLISECONDS);
        }
        asked = answer;
        notifyAll();
        return answer;
    }

    private @Nullable Throwable reason() {
        return ended.handle((done, why) -> why).join();
    }

    synchronized void progress(long done, long total) {
        progress = new GroupMember.FileProgress(done, total);
    }

    /** Takes the next piece from the thread that makes them. */
    void take(ByteBuffer piece) throws IOException {
        put(FileMessage.piece(progress(), piece));
    }

    /** There are no more pieces: the copy has everything up to this entry. */
    void end(Applied copied) throws IOException {
        put(FileMessage.end(copied));
    }

    private synchronized void put(ByteString message) throws IOException {
        awaitRoom();
        CompletableFuture<ByteString> waiting = asked;
        if (waiting != null && ready.isEmpty() && waiting.complete(message)) {
            next++;
        } else {
            ready.addLast(message);
        }
    }

    private void awaitRoom() throws IOException {
        CompletableFuture<ByteString> last = asked;
        long began = System.nanoTime();
        while (ready.size() >= MOST_READY && !ended.isDone()) {
            if (asked != last) {
                last = asked;
                began = System.nanoTime();
            }
            long left = patience.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
            if (left <= 0) {
                throw new IOException("it has asked for nothing for " + patience.toSeconds() + " s");
            }
            pause(left);
        }
        if (ended.isDone()) {
            throw new IOException("the copy was ended", reason());
        }
    }

    private void pause(long millis) throws IOException {
        try {
            wait(millis);
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", hurried);
        }
    }

    /** Everything is ready, and will be asked for. */
    void succeed() {
        ended.complete(null);
    }

    /** Nothing more is sent. */
    synchronized void fail(Throwable why) {
        if (ended.completeExceptionally(why) && asked != null) {
            asked.completeExceptionally(new IOException("the copy has ended", why));
        }
        notifyAll();
    }
}
