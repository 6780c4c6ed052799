package io.caravan.cluster;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.WriteCallback;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import io.caravan.testing.simulator.SimulationFailure;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A simulation of three nodes on an unreliable network, with power cuts at any I/O call and the loss of leaders at any
 * step. It runs on one thread, and a seed determines every step. At the end, all nodes must have the same contents.
 * These must include, at its sequence, every value that was acknowledged or that a reader saw on any node.
 */
final class SimulatedGroup implements RaftModel.Network {
    /** A guarantee that is deliberately broken, to show that the simulation detects the violation. */
    enum Lie {
        NONE,
        ACKNOWLEDGES_AT_THE_LEADERS_FORCE,
        ACKNOWLEDGES_WHEN_LEADERSHIP_IS_LOST,
        MARKS_WHAT_IS_NOT_FORCED
    }

    private static final int NODES = 3;
    private static final int LISTS = 4;
    private static final int STEPS = 4_000;
    private static final int STEPS_TO_HEAL = 200_000;
    /**
     * The maximum nesting depth of waits: while the flusher of a leader waits, the simulation may run other leaders,
     * whose flushers also wait.
     */
    private static final int MAX_DEPTH = 3;

    private static final int MAX_VALUE_BYTES = 1024;
    private static final int KIB = 1024;
    /**
     * The buffer size of most nodes. The largest values also have this size, so their records do not fit into such a
     * buffer.
     */
    private static final int SMALL_BUFFER_BYTES = 8 * KIB;

    private record Message(int from, int to, Consumer<RaftModel> content) {}

    private record Place(long list, long sequence) {}

    private final SplittableRandom random;
    private final Lie lie;
    private final StoreConfig config;
    /** The configuration of the node that accepts values larger than the buffers of the other nodes. */
    private final StoreConfig largerConfig;

    private final List<SimulatedNode> nodes = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private final boolean[][] cutOff = new boolean[NODES][NODES];
    /** The unique number of each value that was acknowledged or read, by list and sequence. */
    private final Map<Place, Long> certain = new HashMap<>();

    private final long[] acknowledgedFirst = new long[LISTS];
    private final long[] requestedFirst = new long[LISTS];
    private @Nullable Throwable failure;
    private boolean calm;
    private int depth;
    private long values;
    private long acknowledged;
    private long larges;
    private long seen;
    private long cuts;
    private long blackouts;
    private long terms;

    SimulatedGroup(long seed, Lie lie) {
        this.random = new SplittableRandom(seed);
        this.lie = lie;
        int floorBytes = (16 + random.nextInt(112)) * KIB;
        this.config = config(MAX_VALUE_BYTES, SMALL_BUFFER_BYTES, floorBytes);
        this.largerConfig = config(SMALL_BUFFER_BYTES, SMALL_BUFFER_BYTES + 4 * KIB, floorBytes);
        for (int id = 0; id < NODES; id++) {
            nodes.add(new SimulatedNode(id, NODES, this));
        }
    }

    private static StoreConfig config(int maxValueBytes, int bufferBytes, int floorBytes) {
        return StoreConfig.builder(Path.of("simulated"))
                .maxValueBytes(maxValueBytes)
                .logBufferBytes(bufferBytes)
                .logSegmentBytes(16 * KIB)
                .heapSegmentBytes(16 * KIB)
                .maxHeapBytes(64 * 16 * KIB)
                .checkpointFloorBytes(floorBytes)
                .checkpointFraction(0.1)
                .durability(Durability.PROCESS)
                .build();
    }

    /** The number of events of each kind in a simulation. */
    record Report(long acknowledged, long larges, long seen, long cuts, long blackouts, long terms) {}

    /** Runs the entire simulation. Throws on a violation. */
    Report run() {
        for (int i = 0; i < STEPS; i++) {
            step();
            checkNoFailure();
        }
        heal();
        compare();
        return new Report(acknowledged, larges, seen, cuts, blackouts, terms);
    }

    // Methods that the nodes call.

    SplittableRandom random() {
        return random;
    }

    StoreConfig config(int node) {
        return node == 0 ? largerConfig : config;
    }

    Lie lie() {
        return lie;
    }

    /** Whether the simulation no longer injects faults. */
    boolean calm() {
        return calm;
    }

    void countCut() {
        cuts++;
    }

    void enter() {
        depth++;
    }

    void leave() {
        depth--;
    }

    /** Records a failure that was detected where an exception would not reach the test. */
    void failed(Throwable found) {
        if (failure == null) {
            failure = found;
        }
    }

    private void checkNoFailure() {
        if (failure instanceof SimulationFailure known) {
            throw known;
        }
        if (failure != null) {
            throw new SimulationFailure("the group broke", failure);
        }
    }

    @Override
    public void send(int from, int to, Consumer<RaftModel> content) {
        messages.add(new Message(from, to, content));
    }

    // Events.

    /** Runs one random event on one node. */
    void step() {
        SimulatedNode node = nodes.get(random.nextInt(NODES));
        node.bury();
        SimulatedNode.NodeProcess process = node.process();
        int dice = random.nextInt(64);
        if (dice < 28) {
            deliver();
        } else if (process == null) {
            if (random.nextInt(8) == 0) {
                node.start();
            }
        } else if (dice < 34) {
            tick(node);
        } else if (dice < 46) {
            process.resume();
        } else if (dice < 52) {
            work(process);
        } else if (dice < 58) {
            write(process);
        } else if (dice < 61) {
            read(process);
        } else if (dice < 62) {
            maintain(process);
        } else if (!calm) {
            harm(node, process);
        }
        node.bury();
    }

    private void deliver() {
        if (messages.isEmpty()) {
            return;
        }
        int at = random.nextInt(messages.size());
        Message message = messages.get(at);
        boolean doubled = !calm && random.nextInt(16) == 0;
        if (!doubled) {
            messages.set(at, messages.get(messages.size() - 1));
            messages.remove(messages.size() - 1);
        }
        SimulatedNode to = nodes.get(message.to());
        SimulatedNode.NodeProcess process = to.process();
        boolean dropped = cutOff[message.from()][message.to()] || (!calm && random.nextInt(16) == 0);
        if (process != null && !process.over() && !dropped) {
            message.content().accept(to.raft());
            process.noticeRole();
        }
    }

    private void tick(SimulatedNode node) {
        RaftModel raft = node.raft();
        if (raft.leads()) {
            raft.replicate();
        } else if (random.nextInt(calm ? 64 : 16) == 0) {
            terms++;
            raft.stand();
        }
    }

    private void work(SimulatedNode.NodeProcess process) {
        if (process.committing()) {
            process.scheduler().stepInside();
        } else if (!process.leads() || depth < MAX_DEPTH) {
            process.scheduler().step();
        }
    }

    private void write(SimulatedNode.NodeProcess process) {
        if (!process.leads() || calm) {
            return;
        }
        int list = random.nextInt(LISTS);
        inside(process, () -> {
            if (random.nextInt(5) == 0) {
                trim(process, list);
            } else {
                append(process, list);
            }
        });
    }

    /**
     * Runs an action on a node. The action must not wait if the flusher of a store is already waiting for the group.
     */
    private void inside(SimulatedNode.NodeProcess process, Runnable action) {
        try {
            if (depth == 0) {
                action.run();
            } else {
                process.scheduler().asGuest(action);
            }
        } catch (StoreFailedException failed) {
            if (process.leads() && !process.isAbandoned()) {
                throw new SimulationFailure("a leader failed, though it leads", failed);
            }
        } catch (CaravanException rejected) {
            // The node no longer leads, is closing, or would have to wait. The action had no effect.
        }
    }

    private void append(SimulatedNode.NodeProcess process, int list) {
        long number = ++values;
        boolean large = process.takesLargeValues() && random.nextInt(4) == 0;
        byte[] value = new byte[large ? SMALL_BUFFER_BYTES : Long.BYTES + random.nextInt(MAX_VALUE_BYTES - Long.BYTES)];
        ByteBuffer.wrap(value).putLong(number);
        process.engine().append(list, value, new Callback(process, sequence -> {
            acknowledged++;
            larges += large ? 1 : 0;
            settle(list, sequence, number);
        }));
    }

    private void trim(SimulatedNode.NodeProcess process, int list) {
        ListInfo info = process.engine().info(list);
        if (info == null) {
            return;
        }
        long first = info.firstSequence() + random.nextInt((int) info.count() + 1);
        requestedFirst[list] = Math.max(requestedFirst[list], first);
        process.engine().trimTo(list, first, new Callback(process, sequence -> {
            acknowledged++;
            acknowledgedFirst[list] = Math.max(acknowledgedFirst[list], first);
        }));
    }

    /** A callback that ignores results that arrive after its process has ended. */
    private final class Callback implements WriteCallback {
        private final SimulatedNode.NodeProcess process;
        private final Consumer<Long> onSuccess;

        Callback(SimulatedNode.NodeProcess process, Consumer<Long> onSuccess) {
            this.process = process;
            this.onSuccess = onSuccess;
        }

        @Override
        public void success(long sequence) {
            if (!process.over()) {
                onSuccess.accept(sequence);
            }
        }

        @Override
        public void failure(CaravanException problem) {
            // The outcome of the write is unknown.
        }
    }

    /** Reads a list on any node, and checks that the group has committed every value that the read returns. */
    private void read(SimulatedNode.NodeProcess process) {
        long list = random.nextInt(LISTS);
        Map<Long, Long> values = new HashMap<>();
        inside(process, () -> {
            process.engine().get(list, numbers(values));
            if (!process.over()) {
                seen += values.size();
                values.forEach((sequence, number) -> settle(list, sequence, number));
            }
        });
    }

    private static EntryStream numbers(Map<Long, Long> into) {
        return StoreCalls.each((sequence, value) -> into.put(sequence, value.getLong(value.position())));
    }

    private void settle(long list, long sequence, long number) {
        Long other = certain.put(new Place(list, sequence), number);
        if (other != null && other != number) {
            failed(new SimulationFailure(
                    "list " + list + " has value " + number + " at " + sequence + ", but had " + other + " before"));
        }
    }

    private void maintain(SimulatedNode.NodeProcess process) {
        if (depth > 0) {
            return;
        }
        inside(process, () -> {
            if (random.nextInt(4) == 0) {
                process.engine().checkpoint();
            } else {
                process.force();
            }
        });
    }

    /** Kills a process, cuts the power of its node, or cuts the power of all nodes. */
    void cut(SimulatedNode.NodeProcess process) {
        if (random.nextInt(8) > 0) {
            process.end(random.nextInt(4) > 0);
            return;
        }
        for (SimulatedNode node : nodes) {
            SimulatedNode.NodeProcess each = node.process();
            if (each != null && !each.over()) {
                each.end(true);
            }
        }
        blackouts++;
    }

    private void harm(SimulatedNode node, SimulatedNode.NodeProcess process) {
        switch (random.nextInt(8)) {
            case 0 -> cut(process);
            case 1 -> {
                node.raft().stop();
                process.noticeRole();
            }
            case 2, 3 -> {
                int other = random.nextInt(NODES);
                cutOff[nodes.indexOf(node)][other] = true;
            }
            default -> {
                for (boolean[] from : cutOff) {
                    from[random.nextInt(NODES)] = false;
                }
            }
        }
    }

    // The end of the simulation.

    private void heal() {
        calm = true;
        for (boolean[] from : cutOff) {
            Arrays.fill(from, false);
        }
        awaitAllAlike();
        for (SimulatedNode node : nodes) {
            while (living(node).scheduler().step()) {
                checkNoFailure();
            }
        }
        // The preceding steps have committed all writes that leaders had accepted.
        awaitAllAlike();
    }

    private void awaitAllAlike() {
        for (int i = 0; i < STEPS_TO_HEAL && !allAlike(); i++) {
            step();
            checkNoFailure();
        }
        if (!allAlike()) {
            throw new SimulationFailure("the group did not come back by itself");
        }
    }

    private static SimulatedNode.NodeProcess living(SimulatedNode node) {
        return Objects.requireNonNull(node.process(), () -> node + " is down");
    }

    private boolean allAlike() {
        int applied = -1;
        boolean leader = false;
        for (SimulatedNode node : nodes) {
            SimulatedNode.NodeProcess process = node.process();
            if (process == null || process.over() || process.committing() || process.isAbandoned()) {
                return false;
            }
            if (applied >= 0 && process.applied() != applied) {
                return false;
            }
            applied = process.applied();
            leader |= process.leads();
        }
        return leader
                && applied
                        == nodes.stream()
                                .mapToInt(node -> node.raft().lastIndex())
                                .max()
                                .orElseThrow();
    }

    private void compare() {
        List<StoreContents> contents = new ArrayList<>();
        for (SimulatedNode node : nodes) {
            SimulatedNode.NodeProcess process = living(node);
            while (process.scheduler().step()) {
                checkNoFailure();
            }
            contents.add(StoreContents.of(process.engine()));
        }
        for (int id = 1; id < NODES; id++) {
            if (!contents.get(id).equals(contents.get(0))) {
                throw new SimulationFailure(nodes.get(id) + " differs from " + nodes.get(0) + ": " + contents.get(id)
                        + " instead of " + contents.get(0));
            }
        }
        certain.forEach((place, number) -> checkIsThere(contents.get(0), place, number));
        IntStream.range(0, LISTS).forEach(list -> checkTrimmed(contents.get(0), list));
    }

    private void checkIsThere(StoreContents contents, Place place, long number) {
        StoreContents.ListContents list = contents.lists().get(place.list());
        long first = list == null ? 0 : list.info().firstSequence();
        if (list != null && place.sequence() < first && place.sequence() < requestedFirst[(int) place.list()]) {
            return;
        }
        long at = place.sequence() - first;
        boolean there = list != null
                && at >= 0
                && at < list.values().size()
                && list.values().get((int) at).bytes().getLong(0) == number;
        if (!there) {
            throw new SimulationFailure("value " + number + " of list " + place.list() + " was acknowledged or seen at "
                    + place.sequence() + ", and is lost");
        }
    }

    private void checkTrimmed(StoreContents contents, int list) {
        StoreContents.ListContents found = contents.lists().get((long) list);
        if (found != null && found.info().firstSequence() < acknowledgedFirst[list]) {
            throw new SimulationFailure(
                    "list " + list + " begins at " + found.info().firstSequence() + ", though a trim up to "
                            + acknowledgedFirst[list] + " was acknowledged");
        }
    }
}
