package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.testing.Crew;
import io.caravan.testing.Eventually;
import io.caravan.testing.Faults;
import io.caravan.testing.FreePorts;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import java.io.IOException;
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

/** Three nodes of a group, and nodes that join it, in one JVM, on loopback. */
final class Group implements AutoCloseable {
    /** The minimum that is allowed. */
    private static final long KEPT_LOG_BYTES = 1 << 20;

    private static final int APPENDS_AT_ONCE = 20;

    private static final Duration HAND_OVER = Duration.ofSeconds(5);

    private final Path directory;
    private final UUID id = UUID.randomUUID();
    private final List<Host> hosts;
    private final List<Host> newcomers = new ArrayList<>();
    private final Function<String, GroupConfig.@Nullable Tls> tls;
    private final Map<String, GroupMember> members = new ConcurrentHashMap<>();
    private final Map<String, DurableListStore> leading = new HashMap<>();
    private BiFunction<String, StoreConfig.Builder, StoreConfig.Builder> settings = (host, store) -> store;
    private Duration election = Duration.ofMillis(200);
    private volatile BiConsumer<String, DurableListStore> whenDeposed = (host, store) -> {};

    Group(Path directory) throws IOException {
        this(directory, host -> null);
    }

    Group(Path directory, Function<String, GroupConfig.@Nullable Tls> tls) throws IOException {
        this(directory, tls, freeHosts("a", "b", "c"));
    }

    Group(Path directory, Function<String, GroupConfig.@Nullable Tls> tls, List<Host> hosts) {
        this.directory = directory;
        this.tls = tls;
        this.hosts = hosts;
    }

    static List<Host> freeHosts(String... names) {
        return Stream.of(names)
                .map(name -> new Host(name, "127.0.0.1", FreePorts.next()))
                .toList();
    }

    List<Host> hosts() {
        return hosts;
    }

    Path storeDirectory(String host) {
        return directory.resolve(host).resolve("store");
    }

    Path raftDirectory(String host) {
        return directory.resolve(host).resolve("raft");
    }

    /** Returns the directory with the Raft log and small Raft files. The node has its own files next to it. */
    Path raftFiles(String host) {
        return raftDirectory(host).resolve(id.toString()).resolve("current");
    }

    UUID id() {
        return id;
    }

    GroupConfig config(String host, GroupConfig.Start start) {
        return new GroupConfig(
                id,
                host,
                Stream.concat(hosts.stream(), newcomers.stream()).toList(),
                settings.apply(host, SmallStore.config(storeDirectory(host)).durability(Durability.PROCESS))
                        .build(),
                raftDirectory(host),
                election,
                KEPT_LOG_BYTES,
                start,
                tls.apply(host));
    }

    static GroupConfig withHosts(GroupConfig config, List<Host> hosts) {
        return new GroupConfig(
                config.group(),
                config.self(),
                hosts,
                config.store(),
                config.raftDirectory(),
                config.election(),
                config.keptLogBytes(),
                config.start(),
                config.tls());
    }

    /** Sets how long a node waits for its leader. A leader that pauses twice as long, on a busy machine, steps down. */
    Group election(Duration patience) {
        election = patience;
        return this;
    }

    /** Sets the store settings of the nodes, each from its next start on. */
    Group settings(BiFunction<String, StoreConfig.Builder, StoreConfig.Builder> changed) {
        settings = changed;
        return this;
    }

    /**
     * Starts all nodes for the first time. Returns when each has a committed entry on its disk. Raft counts no vote of
     * a node with an empty log, so if one node were stopped before that, the two others could have no majority.
     */
    Group create() throws IOException {
        create(hosts.stream().map(Host::id).toArray(String[]::new));
        Eventually.await(
                "all hosts have an entry",
                () -> members.values().stream().allMatch(member -> member.committedIndex() >= 0));
        return this;
    }

    /** Starts these nodes for the first time. */
    void create(String... some) {
        atOnce(Stream.of(some), host -> start(host, GroupConfig.Start.CREATE));
    }

    void restart(String host) throws IOException {
        start(host, GroupConfig.Start.AGAIN);
    }

    void restart(Collection<String> several) {
        atOnce(several.stream(), this::restart);
    }

    /** Starts a node that is not a member yet. */
    Host join(String name) throws IOException {
        Host host = freeHosts(name).get(0);
        newcomers.add(host);
        start(name, GroupConfig.Start.JOIN);
        return host;
    }

    void start(String host, GroupConfig.Start start) throws IOException {
        members.put(host, GroupMember.start(config(host, start), new LeadershipListener() {
            @Override
            public void leads(DurableListStore store) {
                put(host, store);
            }

            @Override
            public void follows() {
                DurableListStore store = store(host);
                put(host, null);
                if (store != null) {
                    whenDeposed.accept(host, store);
                }
            }
        }));
    }

    /** Sets an action that runs when a node is deposed, before its store is closed and reopened. */
    void whenDeposed(BiConsumer<String, DurableListStore> action) {
        whenDeposed = action;
    }

    private synchronized void put(String host, @Nullable DurableListStore store) {
        if (store == null) {
            leading.remove(host);
        } else {
            leading.put(host, store);
        }
        notifyAll();
    }

    void stop(String host) throws IOException {
        members.remove(host).close();
    }

    void stop(Collection<String> several) {
        atOnce(several.stream(), this::stop);
    }

    /**
     * Runs a slow action on all nodes at once. To stop one takes half a second, until the Raft threads check for it.
     */
    private static void atOnce(Stream<String> hosts, Action action) {
        try (Crew crew = new Crew()) {
            hosts.forEach(host -> crew.add(() -> action.of(host)));
            crew.run();
        }
    }

    private interface Action {
        void of(String host) throws IOException;
    }

    /** Moves the files of a stopped node away. */
    void loseFiles(String host) throws IOException {
        Files.move(directory.resolve(host), directory.resolve(host + "-lost"));
    }

    GroupMember member(String host) {
        return members.get(host);
    }

    /** Waits until a node leads, and returns its id. */
    synchronized String awaitLeader() {
        Eventually.awaitNotified(this, () -> !leading.isEmpty(), () -> "a host leads");
        return leading.keySet().iterator().next();
    }

    /** Waits until no leader has this store, which has failed. */
    private synchronized void awaitGone(@Nullable DurableListStore store) {
        Eventually.awaitNotified(
                this, () -> !leading.containsValue(store), () -> "a host whose store is lost leads no longer");
    }

    /** Returns the store of a node that led a moment ago; null if it no longer leads. */
    @Nullable
    synchronized DurableListStore store(String host) {
        return leading.get(host);
    }

    /**
     * Appends on the leader, and retries if it is lost. The outcome is then unknown, so each attempt has its own text.
     * Returns the acknowledged text.
     */
    String append(long list, String text) {
        for (int attempt = 0; ; attempt++) {
            DurableListStore store = store(awaitLeader());
            String value = attempt == 0 ? text : text + " attempt " + attempt;
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
     * Waits until every node has applied the entries committed by now. Even the leader acknowledges them before that.
     */
    void awaitAllAlike() {
        long reached = member(awaitLeader()).committedIndex();
        Eventually.await(
                () -> "all hosts have applied entry " + reached + ": "
                        + members.values().stream()
                                .map(member -> "one has committed " + member.committedIndex() + " and applied "
                                        + member.appliedIndex() + " in term " + member.term() + " with hosts "
                                        + member.progress())
                                .toList(),
                () -> members.values().stream().allMatch(member -> member.appliedIndex() >= reached));
    }

    /** Returns a running node that does not lead. */
    String follower() {
        String leader = awaitLeader();
        return hosts.stream()
                .map(Host::id)
                .filter(id -> !id.equals(leader) && members.containsKey(id))
                .findFirst()
                .orElseThrow();
    }

    /** Returns all initial nodes except this one. */
    List<String> others(String than) {
        return hosts.stream().map(Host::id).filter(id -> !id.equals(than)).toList();
    }

    /** Appends until all running nodes have purged the first entries of their Raft logs, whichever node leads. */
    void appendUntilTheLogIsDropped(long list) {
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
            System.out.println("the leader is lost meanwhile: " + lost.getMessage());
        }
    }

    /** Asks the current leader to transfer leadership to this node. Returns whether the node leads. */
    boolean handedOver(String host) {
        try {
            member(awaitLeader()).transferLeadership(host, HAND_OVER);
        } catch (IOException moved) {
            System.out.println("not handed over: " + moved.getMessage());
        }
        return store(host) != null;
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
        for (String host : all) {
            StoreConfig store = config(host, GroupConfig.Start.AGAIN).store();
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
