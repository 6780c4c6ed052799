package io.caravan.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks each election timeout, on a thread of its own, whether this host comes further: when it leads, with files, and while
 * none leads.
 */
final class LeaderWatch implements CommitWatch.Leader, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderWatch.class);
    /** A group that has not moved for so many election timeouts, or so long if that is longer, gets another term. */
    private static final int STILL_ELECTIONS = 10;

    private static final Duration STILL = Duration.ofSeconds(10);
    /** While no host leads, connections are made anew after so many looks: not each time, as elections go on over them. */
    private static final int LOOKS_OF_A_CONNECTION = 4;

    private final GroupConfig config;
    private final RaftServer server;
    private final RaftGroupId group;
    private final GroupStateMachine state;
    private final Membership membership;
    private final RaftView view;
    private final BooleanSupplier proposes;
    private final Runnable emptyEntry;
    private final ScheduledExecutorService looks;
    /** How often in a row no host led; of the thread that looks. */
    private int leaderless;

    /**
     * For one host.
     *
     * @param proposes whether it has proposed entries whose fate it does not know
     * @param emptyEntry proposes an empty one
     */
    LeaderWatch(
            GroupConfig config,
            RaftServer server,
            RaftGroupId group,
            GroupStateMachine state,
            Membership membership,
            BooleanSupplier proposes,
            Runnable emptyEntry) {
        this.config = config;
        this.server = server;
        this.group = group;
        this.state = state;
        this.membership = membership;
        this.view = new RaftView(server, group);
        this.proposes = proposes;
        this.emptyEntry = emptyEntry;
        this.looks = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "caravan-watch " + config.self());
            thread.setDaemon(true);
            return thread;
        });
    }

    void start() {
        long election = config.election().toMillis();
        int patience = (int) Math.max(STILL_ELECTIONS, STILL.toMillis() / election);
        CommitWatch commits = new CommitWatch(config.self(), this, patience);
        looks.scheduleWithFixedDelay(() -> look(commits, patience), election, election, TimeUnit.MILLISECONDS);
    }

    private void look(CommitWatch commits, int patience) {
        try {
            commits.look();
            state.lookAfterFiles(patience);
            state.noteHosts();
            lookForLeader();
        } catch (RuntimeException problem) {
            LOG.warn("{}: cannot tell how far its group is", config.self(), problem);
        }
    }

    private void lookForLeader() {
        try {
            leaderless = server.getDivision(group).getInfo().getLeaderId() == null ? leaderless + 1 : 0;
        } catch (IOException left) {
            return;
        }
        if (leaderless >= LOOKS_OF_A_CONNECTION) {
            leaderless = 0;
            view.endConnections();
        }
    }

    @Override
    public boolean waits() {
        try {
            DivisionInfo info = server.getDivision(group).getInfo();
            return info.isLeader() && (proposes.getAsBoolean() || !info.isLeaderReady());
        } catch (IOException left) {
            return false;
        }
    }

    @Override
    public List<Long> howFar() {
        return state.howFar();
    }

    @Override
    public void proposeEmptyEntry() {
        emptyEntry.run();
    }

    @Override
    public void stepDown() {
        try {
            membership.stepDown();
        } catch (IOException left) {
            LOG.debug("{}: takes no part in its group any more", config.self(), left);
        }
    }

    @Override
    public void close() {
        looks.shutdown();
    }
}
