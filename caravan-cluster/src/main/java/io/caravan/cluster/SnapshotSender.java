package io.caravan.cluster;

import io.caravan.BackupReport;
import io.caravan.CaravanException;
import io.caravan.Replica;
import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.cluster.SnapshotMessage.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends this node's files to nodes that lag behind the retained Raft log. Such a node requests the files chunk by
 * chunk. The copy is produced on request, so it takes no space on this node's disk. Until the receiver has caught up,
 * this node keeps the Raft log from the copy's first entry on. Thread-safe.
 */
final class SnapshotSender {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final String self;
    private final Source source;
    private final Map<String, OutgoingSnapshot> copies = new ConcurrentHashMap<>();

    interface Source {
        Replica replica();

        /**
         * Fsyncs the replica's log, and {@linkplain OutgoingSnapshot#startAt starts} the copy at an entry that the log
         * then covers. From then on, this node keeps the Raft log starting at that entry.
         *
         * @throws IOException if there is no such entry yet
         */
        Applied start(OutgoingSnapshot copy) throws IOException;
    }

    SnapshotSender(String self, Source source) {
        this.self = self;
        this.source = source;
    }

    /** Handles a request for a chunk; {@code led} returns whether the node with this id follows this node. */
    CompletableFuture<ByteString> request(ByteString message, Predicate<String> led) {
        try {
            Request request = Request.decode(message);
            if (!led.test(request.node())) {
                throw new IOException("node " + self + " is not the leader of node " + request.node());
            }
            return copy(request).request(request.number());
        } catch (IOException rejected) {
            return CompletableFuture.failedFuture(rejected);
        }
    }

    private synchronized OutgoingSnapshot copy(Request request) throws IOException {
        OutgoingSnapshot current = copies.get(request.node());
        if (current != null && current.number() == request.sending()) {
            return current;
        }
        if (request.number() != 0) {
            throw new IOException("this node no longer sends a snapshot to node " + request.node());
        }
        if (current != null) {
            current.fail(new IOException("node " + request.node() + " has started another transfer"));
        }
        OutgoingSnapshot copy = new OutgoingSnapshot(request.sending(), TIMEOUT);
        copies.put(request.node(), copy);
        new DaemonThread(() -> send(request.node(), copy), "caravan-files " + self + " to " + request.node()).start();
        return copy;
    }

    private void send(String node, OutgoingSnapshot copy) {
        try {
            Applied start = source.start(copy);
            LOG.info("{}: node {} lags behind the retained Raft log; sends it a snapshot", self, node);
            BackupReport report = source.replica().send(copy::take, (done, total) -> {
                if (copy.reachesStep(done, total)) {
                    LOG.info("{}: has sent node {} {} of {} bytes of the snapshot", self, node, done, total);
                }
            });
            copy.end(start);
            copy.succeed();
            LOG.info(
                    "{}: sent a snapshot to node {}: {} files with {} bytes",
                    self,
                    node,
                    report.files(),
                    report.bytes());
        } catch (IOException | CaravanException ended) {
            copy.fail(ended);
            LOG.warn("{}: did not send the complete snapshot to node {}: {}", self, node, ended.getMessage());
        } catch (RuntimeException | Error broken) {
            copy.fail(broken);
            LOG.error("{}: failed to send a snapshot to node {}", self, node, broken);
        }
    }

    /** Returns the progress of the copy that is being sent to a node; empty if there is none. */
    Optional<GroupMember.FileProgress> progress(String node) {
        return Optional.ofNullable(copies.get(node))
                .filter(copy -> !copy.ended().isDone())
                .map(OutgoingSnapshot::progress);
    }

    /** Returns the number of bytes sent for each copy in progress. */
    List<Long> sentBytes() {
        return copies.values().stream()
                .filter(copy -> !copy.ended().isDone())
                .map(copy -> copy.progress().bytes())
                .toList();
    }

    /** Returns the first entry of the Raft log to keep for nodes that are receiving files, if any. */
    OptionalLong firstNeeded() {
        return copies.values().stream()
                .map(OutgoingSnapshot::start)
                .flatMap(start -> Optional.ofNullable(start).stream())
                .mapToLong(start -> start.entry().getIndex())
                .min();
    }

    /**
     * Discards each copy that failed, or for whose receiver the Raft log need no longer be kept. This is the case once
     * the receiver is unreachable, or has every entry that this node had at the first check after the copy ended.
     *
     * @param last the entry up to which this node is complete now
     * @param committed the entry up to which a node is known to be complete
     */
    void forget(long last, ToLongFunction<String> committed, Predicate<String> gone) {
        copies.entrySet().removeIf(copy -> {
            String node = copy.getKey();
            CompletableFuture<Void> ended = copy.getValue().ended();
            return ended.isCompletedExceptionally()
                    || ended.isDone()
                            && (committed.applyAsLong(node) >= copy.getValue().goal(last) || gone.test(node));
        });
    }

    void stop(String why) {
        IOException reason = new IOException(why);
        // Removes only copies that have failed, because a request may add another copy in the meantime.
        copies.values().removeIf(copy -> {
            copy.fail(reason);
            return true;
        });
    }
}
