package io.caravan.cluster;

import io.caravan.SnapshotInstaller;
import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.cluster.SnapshotMessage.Kind;
import io.caravan.cluster.SnapshotMessage.Reply;
import io.caravan.cluster.SnapshotMessage.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * Receives the leader's files chunk by chunk, as a read-only client of the group. The leader need not be ready to serve
 * requests: it may lack a majority until the lagging node has caught up.
 */
final class SnapshotFetcher implements AutoCloseable {
    private static final long POLL_MILLIS = 100;

    private final RaftClient leader;
    private final RaftPeerId leaderId;
    private final String self;
    private final BooleanSupplier closing;
    private final Consumer<GroupMember.FileProgress> progress;
    private final long sending = new SecureRandom().nextLong();
    private final ExecutorService requests =
            Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "caravan-snapshot-requests"));

    SnapshotFetcher(
            RaftClient leader,
            RaftPeerId leaderId,
            String self,
            BooleanSupplier closing,
            Consumer<GroupMember.FileProgress> progress) {
        this.leader = leader;
        this.leaderId = leaderId;
        this.self = self;
        this.closing = closing;
        this.progress = progress;
    }

    /**
     * Receives a copy, and returns the entry up to which it is complete. Its files are then durable, but not verified.
     *
     * @param directory a directory that does not exist yet
     */
    Applied receive(Path directory) throws IOException {
        try (SnapshotInstaller copy = SnapshotInstaller.begin(directory)) {
            long number = 0;
            Future<RaftClientReply> pending = requestChunk(number);
            while (true) {
                Reply reply = Reply.decode(await(pending).getMessage().getContent());
                if (reply.kind() == Kind.END) {
                    copy.finish();
                    return reply.readEnd();
                }
                boolean piece = reply.kind() == Kind.PIECE;
                number += piece ? 1 : 0;
                // Requests the next chunk while this chunk is written.
                pending = requestChunk(number);
                if (piece) {
                    progress.accept(reply.readProgress());
                    copy.receive(reply.body());
                }
            }
        }
    }

    private Future<RaftClientReply> requestChunk(long number) {
        Message request = Message.valueOf(new Request(sending, number, self).encode());
        return requests.submit(() -> leader.io().sendStaleRead(request, 0, leaderId));
    }

    private RaftClientReply await(Future<RaftClientReply> pending) throws IOException {
        while (!closing.getAsBoolean()) {
            try {
                RaftClientReply reply = pending.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
                if (!reply.isSuccess()) {
                    throw new IOException("node " + leaderId + " does not send a snapshot: " + reply.getException());
                }
                return reply;
            } catch (TimeoutException again) {
                // The loop checks again whether the node is closing.
            } catch (ExecutionException failed) {
                throw new IOException(
                        "cannot request a snapshot from node " + leaderId + ": " + failed.getCause(),
                        failed.getCause());
            } catch (InterruptedException hurried) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", hurried);
            }
        }
        throw new IOException("the node is closing");
    }

    @Override
    public void close() {
        requests.shutdownNow();
    }
}
