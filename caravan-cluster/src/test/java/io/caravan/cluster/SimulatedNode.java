package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.FrameRejectedException;
import io.caravan.StoreFailedException;
import io.caravan.engine.Engine;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.simulator.SimulatedClock;
import io.caravan.testing.simulator.SimulatedScheduler;
import io.caravan.testing.simulator.SimulationFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A node of a simulated group: its disk, its Raft state, and the processes that it runs one after the other. It
 * performs the steps of {@link GroupStateMachine} between Raft and the store in the same order, without its threads and
 * files.
 */
final class SimulatedNode {
    private static final long STORE_ID = 0x6720;
    private static final int MAX_CALLS = 1_500;
    private static final int MAX_WAIT_STEPS = 300;
    private static final int CALLS_A_LOOK = 4;

    private final int id;
    private final SimulatedGroup group;
    private final SplittableRandom random;
    private final RaftModel raft;
    private CrashStorage disk;
    /**
     * The entry and LSN up to which the store files are complete and fsynced. Like Raft's files, it survives power
     * cuts.
     */
    private Mark mark = new Mark(0, 0);

    private @Nullable NodeProcess process;

    private record Mark(int entry, long endLsn) {}

    SimulatedNode(int id, int nodes, SimulatedGroup group) {
        this.id = id;
        this.group = group;
        this.random = group.random().split();
        this.raft = new RaftModel(id, nodes, group);
        this.disk = new CrashStorage(random.nextLong());
    }

    RaftModel raft() {
        return raft;
    }

    /** Returns the running process, or null. */
    @Nullable
    NodeProcess process() {
        return process;
    }

    void start() {
        NodeProcess starting = new NodeProcess(disk);
        process = starting;
        raft.restart(mark.entry());
        starting.open();
        bury();
    }

    /** Discards a process that has ended, but keeps the node's disk. */
    void bury() {
        NodeProcess ended = process;
        if (ended != null && ended.left != null) {
            disk = ended.left;
            process = null;
        }
    }

    @Override
    public String toString() {
        return "node " + (char) ('a' + id);
    }

    /** A process of the node, from its start to a kill or a power cut. */
    final class NodeProcess implements CrashStorage.Director {
        private final CrashStorage ownDisk;
        private final SimulatedClock clock = new SimulatedClock();
        private final Deque<Mark> marks = new ArrayDeque<>();
        private @Nullable SimulatedScheduler scheduler;
        private @Nullable Engine engine;
        private int applied = mark.entry();
        private @Nullable RaftFrameReplicator leading;
        private long leadingTerm;
        /** Whether the flusher of the store is committing a frame. */
        private boolean committing;
        /** Whether the flusher is waiting for the group to commit that frame. */
        private boolean waiting;

        private byte[] proposed = new byte[0];
        /** The number of I/O calls until the power is cut or the process is killed. */
        private int callsLeft = 1 + random.nextInt(MAX_CALLS);

        private @Nullable CrashStorage left;

        NodeProcess(CrashStorage disk) {
            this.ownDisk = disk;
            disk.director(this);
        }

        private void open() {
            SimulatedScheduler threads = new SimulatedScheduler(random, clock);
            scheduler = threads;
            try {
                engine = openAt(ownDisk, clock, threads);
            } catch (IOException | CaravanException rejected) {
                if (!over()) {
                    throw new SimulationFailure(SimulatedNode.this + " does not open", rejected);
                }
            }
        }

        boolean over() {
            return left != null;
        }

        boolean takesLargeValues() {
            return id == 0;
        }

        boolean leads() {
            return leading != null && !over();
        }

        /** Whether the term of this leader is over, but the node has not become a follower yet. */
        boolean isAbandoned() {
            return leading != null && leading.isAbandoned();
        }

        boolean committing() {
            return committing;
        }

        int applied() {
            return applied;
        }

        Engine engine() {
            if (engine == null) {
                throw new IllegalStateException(SimulatedNode.this + " has no store");
            }
            return engine;
        }

        SimulatedScheduler scheduler() {
            if (scheduler == null) {
                throw new IllegalStateException(SimulatedNode.this + " has no store");
            }
            return scheduler;
        }

        /** Ends the process immediately, by a power cut or a kill. */
        void end(boolean power) {
            left = power ? ownDisk.powerCut(random) : ownDisk.processKill();
            group.countCut();
            if (leading != null) {
                leading.abandon(new IOException("the node is gone"));
            }
        }

        @Override
        public CrashStorage.Outcome before(CrashStorage.Call call) {
            if (!over() && !group.calm()) {
                if (random.nextInt(8) == 0) {
                    ownDisk.writeBack(random);
                }
                if (random.nextInt(CALLS_A_LOOK) == 0) {
                    inspect(ownDisk.powerCut(random.split()));
                }
                if (--callsLeft <= 0) {
                    group.cut(this);
                }
            }
            return CrashStorage.Outcome.PASS;
        }

        /**
         * Checks the disk after a power cut at this moment: the store must open with all fsynced data, and accept the
         * next entries.
         */
        private void inspect(CrashStorage remains) {
            group.countCut();
            try {
                SimulatedClock other = new SimulatedClock();
                Engine copy = openAt(remains, other, new SimulatedScheduler(random.split(), other));
                for (int index = mark.entry() + 1; index <= applied; index++) {
                    RaftModel.Entry entry = raft.entry(index);
                    if (entry.hasFrame()) {
                        copy.replay(frame(entry.frame()));
                    }
                }
            } catch (IOException | RuntimeException | Error broken) {
                // Recorded rather than thrown, because the store would treat an exception as a disk failure.
                group.failed(
                        new SimulationFailure("a cut of " + SimulatedNode.this + " at " + remains.survived(), broken));
            }
        }

        private Engine openAt(CrashStorage remains, SimulatedClock time, SimulatedScheduler threads)
                throws IOException {
            Engine opened = Engine.openReplica(group.config(id), remains, time, threads, STORE_ID, mark.endLsn());
            if (!over() && opened.position() < mark.endLsn()) {
                throw new SimulationFailure(SimulatedNode.this + " ends at LSN " + opened.position()
                        + ", but was forced up to " + mark.endLsn());
            }
            return opened;
        }

        /** Abandons this leader's term if the Raft model shows that it is over. */
        void noticeRole() {
            RaftFrameReplicator term = leading;
            boolean over = !raft.leads() || raft.term() != leadingTerm;
            if (term != null && over) {
                if (waiting && group.lie() == SimulatedGroup.Lie.ACKNOWLEDGES_WHEN_LEADERSHIP_IS_LOST) {
                    waiting = !term.committed(frame(proposed));
                }
                term.abandon(new IOException("leadership is lost"));
            }
        }

        /** Changes roles if necessary, or applies an entry. Returns false if there was nothing to do. */
        boolean resume() {
            noticeRole();
            RaftFrameReplicator term = leading;
            if (term != null && term.isAbandoned()) {
                return !committing && follow(term);
            }
            if (applied < raft.committed()) {
                return apply(raft.entry(applied + 1));
            }
            if (term == null
                    && raft.leads()
                    && applied > 0
                    && raft.entry(applied).term() == raft.term()) {
                lead();
                return true;
            }
            return false;
        }

        private void lead() {
            leading = new RaftFrameReplicator(
                    this::propose, frame -> new FrameEntry(frame, engine().logSegmentBytes()).encode());
            leadingTerm = raft.term();
            engine().lead(leading);
        }

        /**
         * Becomes a follower, with a reopened store. Writes that the group has not committed exist only in memory, and
         * are lost.
         */
        private boolean follow(RaftFrameReplicator term) {
            leading = null;
            try {
                engine().close();
            } catch (StoreFailedException known) {
                // The store has failed, because the group no longer commits its frames.
            }
            if (!over()) {
                open();
            }
            ByteBuffer last = term.lastCommitted();
            if (last != null && !over()) {
                replay(last);
            }
            return true;
        }

        private boolean apply(RaftModel.Entry entry) {
            if (entry.hasFrame()) {
                ByteBuffer frame = frame(entry.frame());
                if (leading != null) {
                    if (!leading.committed(frame)) {
                        leading.abandon(new IOException("an entry of another leader"));
                        return true;
                    }
                    waiting = false;
                } else if (!replay(frame)) {
                    applied++;
                    return true;
                }
                if (over()) {
                    return true;
                }
                marks.add(new Mark(applied + 1, FrameEntry.endLsn(frame)));
            }
            applied++;
            return true;
        }

        private static ByteBuffer frame(byte[] entry) {
            return FrameEntry.decode("of the log", ByteBuffer.wrap(entry).asReadOnlyBuffer())
                    .frame();
        }

        /** Replays a frame. Returns false if the frame is skipped, as on every other node. */
        private boolean replay(ByteBuffer frame) {
            try {
                engine().replay(frame);
                return true;
            } catch (FrameRejectedException rejected) {
                if (!over() && !rejected.placeTaken()) {
                    throw new SimulationFailure(SimulatedNode.this + " cannot apply a frame", rejected);
                }
                return false;
            } catch (CaravanException failed) {
                if (!over()) {
                    throw new SimulationFailure(SimulatedNode.this + " cannot follow", failed);
                }
                return true;
            }
        }

        /** Proposes a frame from the flusher, which waits while the simulation continues. */
        private void propose(byte[] frame, CompletableFuture<Void> commit) {
            committing = true;
            waiting = true;
            proposed = frame;
            group.enter();
            try {
                if (!over() && raft.leads() && raft.term() == leadingTerm) {
                    raft.propose(frame);
                    await(leading);
                }
            } catch (RuntimeException | Error broken) {
                group.failed(broken);
            } finally {
                group.leave();
                committing = false;
            }
            if (waiting) {
                commit.completeExceptionally(new IOException("this node is no longer the leader"));
            }
        }

        private void await(RaftFrameReplicator term) {
            int steps = 0;
            while (waiting && !term.isAbandoned() && !over()) {
                if (group.lie() == SimulatedGroup.Lie.ACKNOWLEDGES_AT_THE_LEADERS_FORCE) {
                    waiting = !term.committed(frame(proposed));
                    return;
                }
                if (++steps > MAX_WAIT_STEPS) {
                    raft.stop();
                    noticeRole();
                } else if (!resume()) {
                    group.step();
                }
            }
        }

        /** Fsyncs the store, and records the entry up to which the store no longer needs the Raft log. */
        void force() {
            boolean lies = group.lie() == SimulatedGroup.Lie.MARKS_WHAT_IS_NOT_FORCED;
            long forced = lies ? engine().position() : engine().fsync();
            while (!over() && !marks.isEmpty() && marks.getFirst().endLsn() <= forced) {
                mark = marks.removeFirst();
            }
        }
    }
}
