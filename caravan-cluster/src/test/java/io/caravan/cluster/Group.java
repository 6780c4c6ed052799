package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.engine.Engine;
import io.caravan.engine.Scheduler;
import io.caravan.io.FileStorage;
import io.caravan.testing.Crew;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.Faults;
import io.caravan.testing.FreePorts;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A group of three nodes, and nodes that join it, in one JVM on the loopback interface. */
final class Group implements AutoCloseable {
    /** The size of the retained Raft log: the minimum allowed, so that nodes purge entries early. */
    private static final long KEPT_LOG_BYTES = 1 << 20;

    private static final int APPENDS_AT_ONCE = 20;
    private static final String ATTEMPT = " attempt ";

    private static final Duration TRANSFER_TIMEOUT = Duration.ofSeconds(5);

    private final Path directory;
    private final UUID id = UUID.randomUUID();
    private final List<Node> nodes;
    private final List<Node> newcomers = new ArrayList<>();
    private final Function<String, GroupConfig.@Nullable Tls> tls;
    private final Map<String, GroupMember> members = new ConcurrentHashMap<>();
    private final Map<String, DurableListStore> leading = new HashMap<>();
    private BiFunction<String, StoreConfig.Builder, StoreConfig.Builder> settings = (node, store) -> store;
    private Duration election = Duration.ofMillis(200);
    private volatile BiConsumer<String, DurableListStore> whenElected = (node, store) -> {};
    private volatile BiConsumer<String, DurableListStore> whenDeposed = (node, store) -> {};

    Group(Path directory) throws IOException {
        this(directory, node -> null);
    }

    Group(Path directory, Function<String, GroupConfig.@Nullable Tls> tls) throws IOException {
        this(directory, tls, freeNodes("a", "b", "c"));
    }

    Group(Path directory, Function<String, GroupConfig.@Nullable Tls> tls, List<Node> nodes) {
        this.directory = directory;
        this.tls = tls;
        this.nodes = nodes;
    }

    static List<Node> freeNodes(String... names) {
        return Stream.of(names)
                .map(name -> new Node(name, "127.0.0.1", FreePorts.next()))
                .toList();
    }

    List<Node> nodes() {
        return nodes;
    }

    Path storeDirectory(String node) {
        return directory.resolve(node).resolve("store");
    }

    Path raftDirectory(String node) {
        return directory.resolve(node).resolve("raft");
    }

    /**
     * Returns the directory of the Raft log and the Raft metadata files. The node's own files are next to this
     * directory.
     */
    Path raftFiles(String node) {
        return raftDirectory(node).resolve(id.toString()).resolve("current");
    }

    UUID id() {
        return id;
    }

    GroupConfig config(String node, GroupConfig.Start start) {
        return new GroupConfig(
                id,
                node,
                Stream.concat(nodes.stream(), newcomers.stream()).toList(),
                settings.apply(node, SmallStore.config(storeDirectory(node)).durability(Durability.PROCESS))
                        .build(),
                raftDirectory(node),
                election,
                KEPT_LOG_BYTES,
                start,
                tls.apply(node));
    }

    static GroupConfig withNodes(GroupConfig config, List<Node> nodes) {
        return new GroupConfig(
                config.group(),
                config.self(),
                nodes,
                config.store(),
                config.raftDirectory(),
                config.election(),
                config.keptLogBytes(),
                config.start(),
                config.tls());
    }

    /** Sets the minimum election timeout. On a busy machine, a leader that pauses for twice this time steps down. */
    Group election(Duration limit) {
        election = limit;
        return this;
    }

    /** Sets the function that adapts each node's store settings from the node's next start on. */
    Group settings(BiFunction<String, StoreConfig.Builder, StoreConfig.Builder> changed) {
        settings = changed;
        return this;
    }

    /**
     * Starts all nodes for the first time. Returns when each has a committed entry on its disk. Raft does not count the
     * vote of a node with an empty log. If a test stopped one node earlier, the two others might have no majority.
     */
    Group create() throws IOException {
        create(nodes.stream().map(Node::id).toArray(String[]::new));
        Eventually.await(
                "all nodes have an entry",
                () -> members.values().stream().allMatch(member -> member.committedIndex() >= 0));
        return this;
    }

    /** Starts these nodes for the first time. */
    void create(String... some) {
        atOnce(Stream.of(some), node -> start(node, GroupConfig.Start.CREATE));
    }

    void restart(String node) throws IOException {
        start(node, GroupConfig.Start.AGAIN);
    }

    void restart(Collection<String> several) {
        atOnce(several.stream(), this::restart);
    }

    /** Starts a node that is not a member yet. */
    Node join(String name) throws IOException {
        Node node = freeNodes(name).get(0);
        newcomers.add(node);
        start(name, GroupConfig.Start.JOIN);
        return node;
    }

    void start(String node, GroupConfig.Start start) throws IOException {
        members.put(node, GroupMember.start(config(node, start), new LeadershipListener() {
            @Override
            public void leads(DurableListStore store) {
                whenElected.accept(node, store);
                put(node, store);
            }

            @Override
            public void follows() {
                DurableListStore store = store(node);
                put(node, null);
                if (store != null) {
                    whenDeposed.accept(node, store);
                }
            }
        }));
    }

    /** Sets an action that runs when a node is elected, before {@link #store} returns its store. */
    void whenElected(BiConsumer<String, DurableListStore> action) {
        whenElected = action;
    }

    /** Sets an action that runs when a node is deposed, before its store is closed and reopened. */
    void whenDeposed(BiConsumer<String, DurableListStore> action) {
        whenDeposed = action;
    }

    private synchronized void put(String node, @Nullable DurableListStore store) {
        if (store == null) {
            leading.remove(node);
        } else {
            leading.put(node, store);
        }
        notifyAll();
    }

    void stop(String node) throws IOException {
        members.remove(node).close();
    }

    void stop(Collection<String> several) {
        atOnce(several.stream(), this::stop);
    }

    /**
     * Runs a slow action on these nodes concurrently. For example, stopping a node takes half a second, because Raft
     * threads poll for the stop request.
     */
    private static void atOnce(Stream<String> nodes, Action action) {
        try (Crew crew = new Crew()) {
            nodes.forEach(node -> crew.add(() -> action.of(node)));
            crew.run();
        }
    }

    private interface Action {
        void of(String node) throws IOException;
    }

    /** Simulates the loss of the files of a stopped node by moving them to another directory. */
    void loseFiles(String node) throws IOException {
        Files.move(directory.resolve(node), directory.resolve(node + "-lost"));
    }

    /** Returns the replica of a running node. */
    GroupReplica replica(String node) throws ReflectiveOperationException {
        return ((GroupStateMachine.Parts)
                        field(GroupStateMachine.class, "parts").get(state(node)))
                .replica();
    }

    private GroupStateMachine state(String node) throws ReflectiveOperationException {
        return (GroupStateMachine) field(GroupMember.class, "state").get(member(node));
    }

    private static Field field(Class<?> owner, String name) throws ReflectiveOperationException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /**
     * Reopens the store of a running node on a disk that fails on demand. The node uses this disk until it reopens the
     * store again.
     */
    FaultStorage reopenWithFaults(String node) throws ReflectiveOperationException, IOException {
        GroupReplica replica = replica(node);
        GroupConfig config = config(node, GroupConfig.Start.AGAIN);
        synchronized (state(node)) {
            long end = replica.now().position();
            replica.close();
            FaultStorage disk =
                    new FaultStorage(FileStorage.open(storeDirectory(node), FileStorage.Access.CREATE, any -> {}));
            field(GroupReplica.class, "replica")
                    .set(
                            replica,
                            Engine.openReplica(
                                    config.store(), disk, System::nanoTime, Scheduler.THREADS, config.storeId(), end));
            return disk;
        }
    }

    /**
     * Appends to a list, then makes a follower's store fail when the store's log is fsynced. Returns the follower's id.
     */
    String failStoreOfFollower(long list) throws ReflectiveOperationException, IOException {
        String node = follower();
        FaultStorage disk = reopenWithFaults(node);
        append(list, "first");
        awaitAllAlike();
        disk.fail(FaultStorage.on(FaultStorage.Kind.FORCE, ".*"));
        assertThatExceptionOfType(StoreFailedException.class)
                .isThrownBy(() -> replica(node).now().fsync());
        return node;
    }

    GroupMember member(String node) {
        return members.get(node);
    }

    /** Waits until a node leads, and returns its id. */
    synchronized String awaitLeader() {
        Eventually.awaitNotified(this, () -> !leading.isEmpty(), () -> "a node leads");
        return leading.keySet().iterator().next();
    }

    /** Waits until this failed store no longer belongs to a leader. */
    private synchronized void awaitGone(@Nullable DurableListStore store) {
        Eventually.awaitNotified(
                this, () -> !leading.containsValue(store), () -> "a node whose store is lost leads no longer");
    }

    /** Returns the store of a node that was recently the leader; null if the node no longer leads. */
    @Nullable
    synchronized DurableListStore store(String node) {
        return leading.get(node);
    }

    /**
     * Appends a string on the leader, and retries if the leader is lost. The outcome of a failed attempt is unknown, so
     * each attempt appends a different string. Returns the acknowledged string.
     */
    String append(long list, String text) {
        for (int attempt = 0; ; attempt++) {
            DurableListStore store = store(awaitLeader());
            String value = attempt == 0 ? text : text + ATTEMPT + attempt;
            try {
                if (store != null) {
                    await(store.append(list, bytes(value)));
                    return value;
                }
            } catch (CaravanException lost) {
                awaitGone(store);
            }
        }
    }

    /** Returns the strings of a list on the leader, without the numbers of the attempts to append them. */
    List<String> textsOf(long list) {
        return values(list).stream()
                .map(value -> value.replaceFirst(ATTEMPT + "\\d+$", ""))
                .toList();
    }

    /** Returns the values of a list on the leader. */
    List<String> values(long list) {
        while (true) {
            DurableListStore store = store(awaitLeader());
            try {
                if (store != null) {
                    return texts(store, list).stream()
                            .map(entry -> entry.substring(entry.indexOf(':') + 1))
                            .toList();
                }
            } catch (CaravanException lost) {
                awaitGone(store);
            }
        }
    }

    /**
     * Waits until every running node has applied the entries committed so far. A leader may acknowledge an entry before
     * it has applied the entry.
     */
    void awaitAllAlike() {
        long reached = member(awaitLeader()).committedIndex();
        Eventually.await(
                () -> "all nodes have applied entry " + reached + ": "
                        + members.values().stream()
                                .map(member -> "one has committed " + member.committedIndex() + " and applied "
                                        + member.appliedIndex() + " in term " + member.term() + " with nodes "
                                        + member.progress())
                                .toList(),
                () -> members.values().stream().allMatch(member -> member.appliedIndex() >= reached));
    }

    /** Returns a running node that does not lead. */
    String follower() {
        String leader = awaitLeader();
        return nodes.stream()
                .map(Node::id)
                .filter(id -> !id.equals(leader) && members.containsKey(id))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the ids of all initial nodes except this one. */
    List<String> others(String than) {
        return nodes.stream().map(Node::id).filter(id -> !id.equals(than)).toList();
    }

    /** Appends until all running nodes have purged the first entries of their Raft logs, whichever node leads. */
    void appendUntilLogIsPurged(long list) {
        while (members.values().stream().anyMatch(Group::hasAllEntries)) {
            DurableListStore store = store(awaitLeader());
            if (store != null) {
                appendMany(store, list);
            }
        }
    }

    private static boolean hasAllEntries(GroupMember member) {
        return member.keptEntries() + APPENDS_AT_ONCE > member.committedIndex();
    }

    private static void appendMany(DurableListStore store, long list) {
        byte[] value = new byte[SmallStore.MAX_VALUE_BYTES];
        try {
            List<CompletableFuture<Long>> appends = new ArrayList<>();
            for (int i = 0; i < APPENDS_AT_ONCE; i++) {
                appends.add(store.append(list, value));
            }
            appends.forEach(StoreCalls::await);
        } catch (CaravanException lost) {
            System.out.println("the leader was lost during the test: " + lost.getMessage());
        }
    }

    /** Asks the current leader to transfer leadership to this node. Returns whether the node then leads. */
    boolean handedOver(String node) {
        try {
            member(awaitLeader()).transferLeadership(node, TRANSFER_TIMEOUT);
        } catch (IOException moved) {
            System.out.println("not handed over: " + moved.getMessage());
        }
        return store(node) != null;
    }

    /**
     * Transfers leadership to this node, unless another election prevents it. Retries while the leader cannot confirm
     * that it leads: the machine has paused, or an election has begun that has not raised the term yet.
     */
    void transferUnlessElected(String node, Duration timeout) {
        GroupMember leader = member(awaitLeader());
        long term = leader.term();
        Eventually.await("leadership is transferred to " + node + ", or a node is elected", () -> {
            try {
                leader.transferLeadership(node, timeout);
                return true;
            } catch (IOException failed) {
                boolean elected = leader.term() > term;
                assertThat(elected || failed.getMessage().contains("cannot confirm that it leads"))
                        .as(failed.getMessage())
                        .isTrue();
                return elected;
            }
        });
    }

    /** Waits until no node leads. */
    synchronized void awaitNoLeader() {
        Eventually.awaitNotified(this, leading::isEmpty, () -> "the leader notices that it leads no longer");
    }

    /** Stops the nodes and checks that their stores have the same contents. */
    void assertAllAlike() {
        awaitAllAlike();
        Set<String> all = Set.copyOf(members.keySet());
        stop(all);
        List<StoreContents> contents = new ArrayList<>();
        for (String node : all) {
            StoreConfig store = config(node, GroupConfig.Start.AGAIN).store();
            assertThat(Faults.of(store.directory())).isEmpty();
            try (DurableListStore opened = DurableListStore.open(store)) {
                contents.add(StoreContents.of(opened));
            }
        }
        assertThat(contents).hasSizeGreaterThan(2).allMatch(contents.get(0)::equals);
    }

    @Override
    public void close() {
        stop(members.keySet());
    }
}
