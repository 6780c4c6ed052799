/**
 * A store that is replicated to several nodes. Each node has a {@link io.caravan.Replica}, one node leads, and a frame
 * is durable when a majority has it in its Raft log.
 *
 * <p>Start at {@link io.caravan.cluster.GroupMember}. The flusher of a leading store passes frames to {@code
 * RaftFrameReplicator}, which proposes each frame as one Raft entry. {@code GroupStateMachine} receives the committed
 * entries on every node: on the leader it notifies the waiting flusher, on followers it replays the frame.
 *
 * <p>A node that lacks entries that {@code RaftLogPurger} has purged receives the leader's files: {@code
 * SnapshotSender} sends them, {@code SnapshotReceiver} receives them. Raft itself (elections, its log, the network) is
 * Apache Ratis.
 */
@NullMarked
package io.caravan.cluster;

import org.jspecify.annotations.NullMarked;
