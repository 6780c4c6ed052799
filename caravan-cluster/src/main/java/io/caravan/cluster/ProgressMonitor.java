package io.caravan.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.server.DivisionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks once per election timeout, on its own thread, whether this node makes progress: as the leader, after it has
 * received a snapshot, and while the group has no leader.
 */
final class ProgressMonitor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProgressMonitor.class);
    /** The election timeouts without progress after which this node ends its term, unless {@code STILL} is longer. */
    private static final int STILL_ELECTIONS = 10;

    private static final Duration STILL = Duration.ofSeconds(10);
    /** The consecutive checks without a leader after which this node resets the connections for elections. */
    private static final int CHECKS_UNTIL_RESET = 4;

    private final GroupConfig config;
    private final LocalRaft raft;
    private final GroupStateMachine state;
    private final int maxChecks;
    private final StallDetector commits;
    private final ScheduledExecutorService checker;
    /** The number of consecutive checks without a leader. Used by the checking thread only. */
    private int leaderless;

    ProgressMonitor(GroupConfig config, LocalRaft raft, GroupStateMachine state) {
        this.config = config;
        this.raft = raft;
        this.state = state;
        this.maxChecks = (int)
                Math.max(STILL_ELECTIONS, STILL.toMillis() / config.election().toMillis());
        this.commits = new StallDetector(config.self(), maxChecks);
        this.checker = Executors.newSingleThreadScheduledExecutor(
                task -> new DaemonThread(task, "caravan-watch " + config.self()));
    }

    void start() {
        long election = config.election().toMillis();
        checker.scheduleWithFixedDelay(this::check, election, election, TimeUnit.MILLISECONDS);
    }

    private void check() {
        try {
            DivisionInfo info = raft.division().getInfo();
            boolean waits = raft.hasRequestsInProgress() || !info.isLeaderReady();
            switch (commits.check(info.isLeader() ? state.progress(waits) : null)) {
                case STEP_DOWN -> raft.stepDown(config.election());
                case PROPOSE_EMPTY_ENTRY -> raft.commitEmptyEntry();
                case NOTHING -> {}
            }
            state.checkSnapshotProgress(maxChecks);
            state.noteNodes();
            leaderless = info.getLeaderId() == null ? leaderless + 1 : 0;
            if (leaderless >= CHECKS_UNTIL_RESET) {
                leaderless = 0;
                raft.endConnections();
            }
        } catch (IOException left) {
            LOG.debug("{}: has left its group", config.self(), left);
        } catch (RuntimeException | Error problem) {
            LOG.warn("{}: cannot determine the progress of its group", config.self(), problem);
        }
    }

    @Override
    public void close() {
        checker.shutdown();
    }
}
