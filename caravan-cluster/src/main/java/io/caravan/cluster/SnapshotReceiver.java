package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.SnapshotInstaller;
import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.cluster.SnapshotMessage.Kind;
import io.caravan.cluster.SnapshotMessage.Reply;
import io.caravan.cluster.SnapshotMessage.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the leader's files when Raft requires this node to install a snapshot. Requests them chunk by chunk, as a
 * read-only client of the group. The leader need not be ready to serve requests: it may lack a majority until the
 * lagging node has caught up. Thread-safe.
 */
final class SnapshotReceiver {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotReceiver.class);
    /** The timeout for a response from the leader, which responds in time even if no chunk is ready. */
    private static final TimeDuration REPLY_TIMEOUT = TimeDuration.valueOf(10, TimeUnit.SECONDS);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final int MOST_DOUBLINGS = 8;
    private static final long POLL_MILLIS = 50;

    private final GroupConfig config;
    private final BooleanSupplier closing;
    private final Target target;
    private final ExecutorService thread;
    private volatile GroupMember.@Nullable FileProgress progress;
    private int failures;
    private long reported;

    /** The store that the received files replace. */
    interface Target {
        /** Returns the directory for the received files; the directory does not exist yet. */
        Path begin() throws IOException;

        /** Installs the received files as the store; throws if they cannot become the store. */
        void install(Path received, Applied copied) throws IOException;
    }

    SnapshotReceiver(GroupConfig config, BooleanSupplier closing, Target target) {
        this.config = config;
        this.closing = closing;
        this.target = target;
        this.thread =
                Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "caravan-files of " + config.self()));
    }

    /** Returns the progress of the copy that is being received; empty if there is none. */
    Optional<GroupMember.FileProgress> progress() {
        return Optional.ofNullable(progress);
    }

    /**
     * Receives the files and installs them as the store. After a failure, Raft calls this method again.
     *
     * @return a future that completes with the entry up to which the store is then complete
     */
    CompletableFuture<TermIndex> receive(RaftPeer leader) {
        CompletableFuture<TermIndex> result = new CompletableFuture<>();
        try {
            thread.execute(() -> receive(leader, result));
        } catch (RejectedExecutionException closed) {
            result.completeExceptionally(closed);
        }
        return result;
    }

    private void receive(RaftPeer leader, CompletableFuture<TermIndex> result) {
        try {
            pauseAfterFailures();
            LOG.info(
                    "{}: lags behind the retained Raft log, and requests a snapshot from node {}",
                    config.self(),
                    leader);
            Applied copied = receiveFrom(leader);
            failures = 0;
            LOG.info(
                    "{}: has received the snapshot of node {}, which is complete up to entry {}",
                    config.self(),
                    leader.getId(),
                    copied.entry());
            result.complete(copied.entry());
        } catch (IOException | CaravanException failed) {
            failures++;
            LOG.warn(
                    "{}: did not receive a snapshot, and tries again when the leader requests it: {}",
                    config.self(),
                    failed.getMessage());
            result.completeExceptionally(failed);
        } catch (RuntimeException | Error broken) {
            failures++;
            LOG.error(
                    "{}: failed to receive a snapshot, and tries again when the leader requests it",
                    config.self(),
                    broken);
            result.completeExceptionally(broken);
        } finally {
            progress = null;
        }
    }

    /** Delays a retry after failures; returns early if the node is closing. */
    private void pauseAfterFailures() {
        long millis = failures == 0 ? 0 : FIRST_PAUSE_MILLIS << Math.min(failures - 1, MOST_DOUBLINGS);
        for (long waited = 0; waited < millis && !closing.getAsBoolean(); waited += POLL_MILLIS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS));
        }
    }

    private Applied receiveFrom(RaftPeer leader) throws IOException {
        reported = 0;
        Path directory = target.begin();
        long sending = new SecureRandom().nextLong();
        try (RaftClient client = RaftSettings.client(
                RaftSettings.properties(config), config.group(), config.tls(), leader, REPLY_TIMEOUT)) {
            ExecutorService requests =
                    Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "caravan-snapshot-requests"));
            try {
                Applied copied = receiveFiles(directory, leader.getId(), number -> {
                    Message request = Message.valueOf(new Request(sending, number, config.self()).encode());
                    return requests.submit(() -> client.io().sendStaleRead(request, 0, leader.getId()));
                });
                target.install(directory, copied);
                return copied;
            } finally {
                requests.shutdownNow();
            }
        }
    }

    /**
     * Receives a copy, and returns the entry up to which it is complete. Its files are then durable, but not verified.
     */
    private Applied receiveFiles(Path directory, RaftPeerId leader, LongFunction<Future<RaftClientReply>> requestChunk)
            throws IOException {
        try (SnapshotInstaller copy = SnapshotInstaller.begin(directory)) {
            long number = 0;
            Future<RaftClientReply> pending = requestChunk.apply(number);
            while (true) {
                Reply reply = Reply.decode(await(pending, leader).getMessage().getContent());
                if (reply.kind() == Kind.END) {
                    copy.finish();
                    return reply.readEnd();
                }
                boolean piece = reply.kind() == Kind.PIECE;
                number += piece ? 1 : 0;
                // Requests the next chunk while this chunk is written.
                pending = requestChunk.apply(number);
                if (piece) {
                    report(reply.readProgress());
                    copy.receive(reply.body());
                }
            }
        }
    }

    private RaftClientReply await(Future<RaftClientReply> pending, RaftPeerId leader) throws IOException {
        while (!closing.getAsBoolean()) {
            try {
                RaftClientReply reply = pending.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
                if (!reply.isSuccess()) {
                    throw new IOException("node " + leader + " does not send a snapshot: " + reply.getException());
                }
                return reply;
            } catch (TimeoutException again) {
                // The loop checks again whether the node is closing.
            } catch (ExecutionException failed) {
                throw new IOException(
                        "cannot request a snapshot from node " + leader + ": " + failed.getCause(), failed.getCause());
            } catch (InterruptedException hurried) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", hurried);
            }
        }
        throw new IOException("the node is closing");
    }

    private void report(GroupMember.FileProgress now) {
        progress = now;
        if (now.step() > reported) {
            reported = now.step();
            LOG.info("{}: has received {} of {} bytes of the snapshot", config.self(), now.bytes(), now.total());
        }
    }

    /** Waits until the transfer in progress, if any, has ended, because the node is closing. */
    void awaitEnd(long seconds) throws IOException, InterruptedException {
        thread.shutdown();
        if (!thread.awaitTermination(seconds, TimeUnit.SECONDS)) {
            throw new IOException(config.self() + " did not stop receiving a snapshot within " + seconds + " s");
        }
    }
}
