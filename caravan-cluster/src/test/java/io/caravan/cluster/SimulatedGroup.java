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
 * Three nodes, a network that delays, drops, duplicates, and reorders, power cuts at any I/O call, and leaders that are
 * lost at any step. A seed decides everything, on one thread. In the end, all nodes must be the same, and have
 * everything that was acknowledged, or that a reader saw on any node, in its place.
 */
final class SimulatedGroup implements RaftModel.Network {
    /** A deliberately broken guarantee, to show that the simulation detects it. */
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
     * The maximum nesting of waits: while the flusher of a leader waits, other nodes may lead, and wait, within its
     * wait.
     */
    private static final int MAX_DEPTH = 3;

    private static final int MAX_VALUE_BYTES = 1024;
    private static final int KIB = 1024;
    /** Too small for the record of a value of this many bytes. */
    private static final int SMALL_BUFFER_BYTES = 8 * KIB;

    private record Message(int from, int to, Consumer<RaftModel> content) {}

    private record Place(long list, long sequence) {}

    private final SplittableRandom random;
    private final Lie lie;
    private final StoreConfig config;
    /** The config of one node, which accepts values larger than the buffers of the others. */
    private final StoreConfig largerConfig;

    private final List<SimulatedNode> nodes = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private final boolean[][] cutOff = new boolean[NODES][NODES];
    /** The acknowledged or seen values, by their unique numbers. */
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

    /** The results of a simulation. */
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

    // For the nodes.

    SplittableRandom random() {
        return random;
    }

    StoreConfig config(int node) {
        return node == 0 ? largerConfig : config;
    }

    Lie lie() {
        return lie;
    }

    /** Whether faults have ended. */
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

    /** Records a failure that was found where no caller would catch it. */
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

    /** Makes one event occur on one node. */
    void step() {
        SimulatedNode node = nodes.get(random.nextInt(NODES));
        node.bury();
        SimulatedNode.Incarnation incarnation = node.incarnation();
        int dice = random.nextInt(64);
        if (dice < 28) {
            deliver();
        } else if (incarnation == null) {
            if (random.nextInt(8) == 0) {
                node.start();
            }
        } else if (dice < 34) {
            tick(node);
        } else if (dice < 46) {
            incarnation.resume();
        } else if (dice < 52) {
            work(incarnation);
        } else if (dice < 58) {
            write(incarnation);
        } else if (dice < 61) {
            read(incarnation);
        } else if (dice < 62) {
            maintain(incarnation);
        } else if (!calm) {
            harm(node, incarnation);
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
        SimulatedNode.Incarnation incarnation = to.incarnation();
        boolean dropped = cutOff[message.from()][message.to()] || (!calm && random.nextInt(16) == 0);
        if (incarnation != null && !incarnation.over() && !dropped) {
            message.content().accept(to.raft());
            incarnation.noticeRole();
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

    private void work(SimulatedNode.Incarnation incarnation) {
        if (incarnation.committing()) {
            incarnation.scheduler().stepInside();
        } else if (!incarnation.leads() || depth < MAX_DEPTH) {
            incarnation.scheduler().step();
        }
    }

    private void write(SimulatedNode.Incarnation incarnation) {
        if (!incarnation.leads() || calm) {
            return;
        }
        int list = random.nextInt(LISTS);
        inside(incarnation, () -> {
            if (random.nextInt(5) == 0) {
                trim(incarnation, list);
            } else {
                append(incarnation, list);
            }
        });
    }

    /** Runs an action that must not wait if the flusher of a store already waits for the group. */
    private void inside(SimulatedNode.Incarnation incarnation, Runnable action) {
        try {
            if (depth == 0) {
                action.run();
            } else {
                incarnation.scheduler().asGuest(action);
            }
        } catch (StoreFailedException failed) {
            if (incarnation.leads() && !incarnation.isAbandoned()) {
                throw new SimulationFailure("a leader failed, though it leads", failed);
            }
        } catch (CaravanException rejected) {
            // The node no longer leads, is closing, or would have to wait. Nothing has happened.
        }
    }

    private void append(SimulatedNode.Incarnation incarnation, int list) {
        long number = ++values;
        boolean large = incarnation.takesLargeValues() && random.nextInt(4) == 0;
        byte[] value = new byte[large ? SMALL_BUFFER_BYTES : Long.BYTES + random.nextInt(MAX_VALUE_BYTES - Long.BYTES)];
        ByteBuffer.wrap(value).putLong(number);
        incarnation.engine().append(list, value, new Reply(incarnation, sequence -> {
            acknowledged++;
            larges += large ? 1 : 0;
            settle(list, sequence, number);
        }));
    }

    private void trim(SimulatedNode.Incarnation incarnation, int list) {
        ListInfo info = incarnation.engine().info(list);
        if (info == null) {
            return;
        }
        long first = info.firstSequence() + random.nextInt((int) info.count() + 1);
        requestedFirst[list] = Math.max(requestedFirst[list], first);
        incarnation.engine().trimTo(list, first, new Reply(incarnation, sequence -> {
            acknowledged++;
            acknowledgedFirst[list] = Math.max(acknowledgedFirst[list], first);
        }));
    }

    /** A callback whose calls count until its process ends. */
    private final class Reply implements WriteCallback {
        private final SimulatedNode.Incarnation incarnation;
        private final Consumer<Long> reported;

        Reply(SimulatedNode.Incarnation incarnation, Consumer<Long> reported) {
            this.incarnation = incarnation;
            this.reported = reported;
        }

        @Override
        public void success(long sequence) {
            if (!incarnation.over()) {
                reported.accept(sequence);
            }
        }

        @Override
        public void failure(CaravanException problem) {
            // The write may have happened or not.
        }
    }

    /** Reads on any node, which shows only data that the group has committed. */
    private void read(SimulatedNode.Incarnation incarnation) {
        long list = random.nextInt(LISTS);
        Map<Long, Long> values = new HashMap<>();
        inside(incarnation, () -> {
            incarnation.engine().get(list, numbers(values));
            if (!incarnation.over()) {
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

    private void maintain(SimulatedNode.Incarnation incarnation) {
        if (depth > 0) {
            return;
        }
        inside(incarnation, () -> {
            if (random.nextInt(4) == 0) {
                incarnation.engine().checkpoint();
            } else {
                incarnation.force();
            }
        });
    }

    /** Ends a process, or cuts the power of all nodes. */
    void cut(SimulatedNode.Incarnation incarnation) {
        if (random.nextInt(8) > 0) {
            incarnation.end(random.nextInt(4) > 0);
            return;
        }
        for (SimulatedNode node : nodes) {
            SimulatedNode.Incarnation each = node.incarnation();
            if (each != null && !each.over()) {
                each.end(true);
            }
        }
        blackouts++;
    }

    private void harm(SimulatedNode node, SimulatedNode.Incarnation incarnation) {
        switch (random.nextInt(8)) {
            case 0 -> cut(incarnation);
            case 1 -> {
                node.raft().stop();
                incarnation.noticeRole();
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

    // The end.

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
        // Writes that leaders had accepted are committed now.
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

    private static SimulatedNode.Incarnation living(SimulatedNode node) {
        return Objects.requireNonNull(node.incarnation(), () -> node + " is down");
    }

    private boolean allAlike() {
        int applied = -1;
        boolean leader = false;
        for (SimulatedNode node : nodes) {
            SimulatedNode.Incarnation incarnation = node.incarnation();
            if (incarnation == null || incarnation.over() || incarnation.committing() || incarnation.isAbandoned()) {
                return false;
            }
            if (applied >= 0 && incarnation.applied() != applied) {
                return false;
            }
            applied = incarnation.applied();
            leader |= incarnation.leads();
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
            SimulatedNode.Incarnation incarnation = living(node);
            while (incarnation.scheduler().step()) {
                checkNoFailure();
            }
            contents.add(StoreContents.of(incarnation.engine()));
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
