/**
 * A store that several hosts keep together: each has a {@link io.caravan.Replica}, one of them leads, and a frame is
 * durable when the majority has it in its Raft log.
 *
 * <p>Start at {@link io.caravan.cluster.GroupMember}. A leading store's frames go from its flusher to {@code
 * RaftCommitLog}, which proposes each as one Raft entry. {@code GroupStateMachine} gets the committed entries on every
 * host: on the leader it says so to the waiting flusher, on followers it replays the frame. {@code RaftLogKeeper} drops
 * what is needed of the Raft log no more; a host that lacks what was dropped gets the leader's files, by {@code
 * FileReceiver} there and {@code FileSender} here. Raft itself (elections, its
 * log, the network) is Apache Ratis.
 */
@NullMarked
package io.caravan.cluster;

import org.jspecify.annotations.NullMarked;
