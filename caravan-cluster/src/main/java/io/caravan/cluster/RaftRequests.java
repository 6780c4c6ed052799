package io.caravan.cluster;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to this node's own Raft server, each with a unique call id. Requests are never resent, because the
 * outcome of the first attempt would be unknown. Thread-safe.
 */
final class RaftRequests {
    private final RaftServer server;
    private final RaftGroupId group;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong();
    /** The number of entries that this node has proposed and whose outcome is not known yet. */
    private final AtomicInteger inProgress = new AtomicInteger();

    RaftRequests(RaftServer server, RaftGroupId group) {
        this.server = server;
        this.group = group;
    }

    /** Whether this node has proposed entries whose outcome is not known yet. */
    boolean areInProgress() {
        return inProgress.get() > 0;
    }

    CompletableFuture<Void> commitEmptyEntry() {
        return commit(ByteString.EMPTY);
    }

    /** Proposes an entry. Completes when it is committed in this node's term, and this node has applied it. */
    CompletableFuture<Void> commit(ByteString entry) {
        CompletableFuture<Void> committed = new CompletableFuture<>();
        inProgress.incrementAndGet();
        committed.whenComplete((done, failed) -> inProgress.decrementAndGet());
        try {
            server.submitClientRequestAsync(request(entry)).whenComplete((reply, problem) -> {
                Throwable failure = problem != null ? problem : failure(reply);
                if (failure == null) {
                    committed.complete(null);
                } else {
                    committed.completeExceptionally(failure);
                }
            });
        } catch (IOException | RuntimeException failed) {
            committed.completeExceptionally(failed);
        }
        return committed;
    }

    private RaftClientRequest request(ByteString entry) {
        return RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(server.getId())
                .setGroupId(group)
                .setCallId(calls.incrementAndGet())
                .setMessage(Message.valueOf(entry))
                .setType(RaftClientRequest.writeRequestType())
                .build();
    }

    /**
     * Offers leadership to another node, once, and waits until that node leads or the time is over.
     *
     * @return null if the other node leads
     */
    @Nullable
    Throwable offerLeadership(String node, long millis) throws IOException {
        return failure(server.transferLeadership(new TransferLeadershipRequest(
                client, server.getId(), group, calls.incrementAndGet(), RaftPeerId.valueOf(node), millis)));
    }

    private static @Nullable Throwable failure(RaftClientReply reply) {
        if (reply.isSuccess()) {
            return null;
        }
        Throwable exception = reply.getException();
        return exception != null ? exception : new IOException("Raft rejected the entry: " + reply);
    }
}
