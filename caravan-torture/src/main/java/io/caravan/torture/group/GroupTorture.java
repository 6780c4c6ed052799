package io.caravan.torture.group;

import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.bench.WorkDirectories;
import io.caravan.testing.StoreContents;
import io.caravan.torture.group.NodeCall.Reply;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.round.TortureOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs three nodes of a Raft group in separate processes. Clients write to them and make linearizable reads, while
 * nodes are killed, suspended, and cut off from each other.
 *
 * <p>After each round, all nodes are up again. The group must then accept writes within {@link
 * GroupNodeProcesses#TIMEOUT}, its leader must have all acknowledged writes, and the reads must have been linearizable.
 * After some rounds, all nodes are stopped and their replicas compared.
 */
public final class GroupTorture {
    private static final int WRITERS = 4;
    private static final int READERS = 2;
    private static final int LISTS_OF_A_WRITER = 8;
    private static final long PROBE_LIST = 1_000_000;
    private static final int ROUNDS_BETWEEN_COMPARISONS = 3;
    private static final int MOST_FAULTS = 5;
    private static final int SOONEST_FAULT_MILLIS = 150;
    private static final int LATER_FAULT_MILLIS = 450;
    private static final long POLL_NANOS = 20_000_000;

    private final GroupPlan plan;
    private final GroupNodeProcesses nodes;
    private final TortureOptions options;
    private final long deadline;
    private final Random random;
    private final List<GroupFault> faults;
    private final PrintStream out;
    private final GroupSummary summary = new GroupSummary();
    private final List<List<ListHistory>> lists = new ArrayList<>();
    private final long[] numbers = new long[WRITERS];
    private long probes;

    private GroupTorture(
            GroupPlan plan,
            GroupNodeProcesses nodes,
            List<GroupFault> faults,
            TortureOptions options,
            PrintStream out) {
        this.plan = plan;
        this.faults = faults.stream()
                .filter(fault -> nodes.reasonForNoSickDisks().isEmpty() || !fault.isOfDisks())
                .toList();
        this.nodes = nodes;
        this.options = options;
        this.deadline = System.nanoTime() + options.time().toNanos();
        this.random = new Random(options.seed());
        this.out = out;
        for (int writer = 0; writer < WRITERS; writer++) {
            List<ListHistory> own = new ArrayList<>();
            for (int i = 0; i < LISTS_OF_A_WRITER; i++) {
                own.add(new ListHistory(100L * (writer + 1) + i));
            }
            lists.add(own);
        }
    }

    /**
     * Runs rounds until a problem is found, or the limit on rounds or time is reached.
     *
     * @param mainClass the main class of a node's process
     * @param faults faults to choose from; a fault may be listed several times to be chosen more often
     */
    public static GroupSummary run(String mainClass, TortureOptions options, List<GroupFault> faults, PrintStream out)
            throws IOException, InterruptedException {
        GroupPlan plan = GroupPlan.make(options.directory());
        try (GroupNodeProcesses nodes = new GroupNodeProcesses(plan, mainClass)) {
            return new GroupTorture(plan, nodes, faults, options, out).run();
        }
    }

    private GroupSummary run() throws InterruptedException {
        if (!nodes.reasonForNoSickDisks().isEmpty()) {
            out.println("no disk will be slow, fail or be full here: " + nodes.reasonForNoSickDisks());
        }
        while (summary.rounds() < options.rounds() && System.nanoTime() < deadline && summary.clean()) {
            summary.round();
            try {
                round();
            } catch (IOException problem) {
                nodes.explain();
                summary.problem(String.valueOf(problem.getMessage()));
            }
        }
        summary.endedByThemselves = nodes.endedByThemselves();
        summary.problems().forEach(out::println);
        return summary;
    }

    private void round() throws IOException, InterruptedException {
        awaitService();
        List<GroupWriter> writers = startWriters();
        List<GroupReader> readers = startReaders();
        StringBuilder course = new StringBuilder();
        for (int left = 1 + random.nextInt(MOST_FAULTS); left > 0; left--) {
            Thread.sleep(SOONEST_FAULT_MILLIS + random.nextInt(LATER_FAULT_MILLIS));
            GroupFault fault = faults.get(random.nextInt(faults.size()));
            course.append(' ').append(fault);
            summary.fault(fault, fault.strike(nodes, random));
            Thread.sleep(random.nextInt(4) * GroupPlan.ELECTION.toMillis());
            nodes.heal(random.nextBoolean());
        }
        writers.forEach(GroupWriter::requestStop);
        readers.forEach(GroupReader::requestStop);
        long healed = System.nanoTime();
        for (GroupReader reader : readers) {
            reader.join();
            summary.reader(reader);
        }
        end(writers);
        String leader = awaitService();
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - healed);
        summary.longestReturnMillis = Math.max(summary.longestReturnMillis, millis);
        check();
        boolean last = summary.rounds() == options.rounds();
        if (last || summary.rounds() % ROUNDS_BETWEEN_COMPARISONS == 0) {
            compareReplicas(last);
        }
        out.println("round " + summary.rounds() + ":" + course + "; " + leader + " led after " + millis + " ms, "
                + summary.acknowledged() + " acknowledged so far");
    }

    private List<GroupWriter> startWriters() {
        List<GroupWriter> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            writers.add(new GroupWriter(new SplittableRandom(random.nextLong()), nodes, lists.get(i), numbers[i]));
        }
        writers.forEach(GroupWriter::start);
        return writers;
    }

    private List<GroupReader> startReaders() {
        List<ListHistory> all = lists.stream().flatMap(List::stream).toList();
        List<GroupReader> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            readers.add(new GroupReader(new SplittableRandom(random.nextLong()), nodes, all));
        }
        readers.forEach(GroupReader::start);
        return readers;
    }

    private void end(List<GroupWriter> writers) throws IOException, InterruptedException {
        for (int i = 0; i < WRITERS; i++) {
            GroupWriter writer = writers.get(i);
            writer.join();
            writer.readToEnd(GroupNodeProcesses.TIMEOUT);
            numbers[i] = writer.number();
            summary.writer(writer);
        }
    }

    /** Waits until a leader has accepted a write, and returns the name of that leader. */
    private String awaitService() throws IOException {
        long end = System.nanoTime() + GroupNodeProcesses.TIMEOUT.toNanos();
        while (System.nanoTime() < end) {
            nodes.startThoseThatEnded();
            Optional<String> leader = nodes.leader();
            if (leader.isPresent() && nodes.takes(leader.get(), NodeCall.append(PROBE_LIST, probes++, 24))) {
                return leader.get();
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        throw new IOException("the group has taken no write for " + GroupNodeProcesses.TIMEOUT.toSeconds()
                + " s, though all its nodes are up; their output, with their threads, is in " + plan.directory());
    }

    private void check() throws IOException {
        for (List<ListHistory> own : lists) {
            for (ListHistory list : own) {
                String problem = list.found(read(list.id()));
                if (problem != null) {
                    summary.problem(problem);
                }
            }
        }
    }

    /**
     * Reads a list from the leader. The leader may have changed in the meantime, but a leader that has accepted a write
     * has all earlier writes.
     */
    private @Nullable ListModel read(long list) throws IOException {
        long end = System.nanoTime() + GroupNodeProcesses.TIMEOUT.toNanos();
        while (System.nanoTime() < end) {
            String leader = nodes.leader().orElseGet(() -> "");
            if (leader.isEmpty()) {
                awaitService();
                continue;
            }
            try (NodeLink link = nodes.link(leader)) {
                link.send(NodeCall.read(list));
                if (link.reply(GroupNodeProcesses.TIMEOUT) == Reply.DONE) {
                    return link.list();
                }
            }
            awaitService();
        }
        throw new IOException("nodes that report that they lead have rejected reads of list " + list + " for "
                + GroupNodeProcesses.TIMEOUT.toSeconds() + " s, though the group takes writes");
    }

    private void compareReplicas(boolean last) throws IOException {
        awaitAllAlike();
        nodes.stop();
        List<StoreContents> contents = new ArrayList<>();
        for (String node : nodes.ids()) {
            contents.add(contents(node));
        }
        for (int i = 1; i < contents.size(); i++) {
            if (!contents.get(i).equals(contents.get(0))) {
                summary.problem("the replicas of nodes " + nodes.ids().get(0) + " and "
                        + nodes.ids().get(i) + " differ, though both had caught up");
            }
        }
        summary.comparisons++;
        String started =
                nodes.tryWithoutFiles(nodes.ids().get(random.nextInt(nodes.ids().size())));
        if (started != null) {
            summary.problem(started);
        }
        if (!last) {
            nodes.heal(true);
        }
    }

    private void awaitAllAlike() throws IOException {
        String leader = awaitService();
        long reached = nodes.state(leader).map(NodeLink.State::applied).orElse(0L);
        long end = System.nanoTime() + GroupNodeProcesses.TIMEOUT.toNanos();
        for (String node : nodes.ids()) {
            while (nodes.state(node).map(NodeLink.State::applied).orElse(-1L) < reached) {
                nodes.startThoseThatEnded();
                if (System.nanoTime() > end) {
                    throw new IOException("node " + node + " has not caught up within "
                            + GroupNodeProcesses.TIMEOUT.toSeconds() + " s; its output is in " + plan.log(node));
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    /** Verifies a node's replica and returns its contents, read from a copy, because opening a store may change it. */
    private StoreContents contents(String node) throws IOException {
        VerifyReport report = DurableListStore.verify(plan.store(node), VerifyReport.Progress.NONE);
        report.faults().forEach(fault -> summary.problem("the replica of node " + node + ": " + fault));
        Path copy = plan.directory().resolve("copy");
        WorkDirectories.copy(plan.store(node), copy);
        try (DurableListStore store = DurableListStore.open(GroupPlan.storeConfig(copy))) {
            return StoreContents.of(store);
        } finally {
            WorkDirectories.delete(copy);
        }
    }
}
