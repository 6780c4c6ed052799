package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.testing.Crew;
import io.caravan.testing.Eventually;
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
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Three hosts of a group, and those that join it, in one JVM, on loopback. */
final class Group implements AutoCloseable {
    /** The least. */
    private static final long KEPT_LOG_BYTES = 1 << 20;

    private static final int APPENDS_AT_ONCE = 20;

    private static final long PATIENCE_SECONDS = StoreCalls.PATIENCE_SECONDS;

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

    /** The directory with Raft's log and small files. The host keeps its own files beside it. */
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

    /** How long a host waits for its leader; a leader that pauses for twice as long, on a busy machine, leads no longer. */
    Group election(Duration patience) {
        election = patience;
        return this;
    }

    /** The settings of a host's store, which it has from its next start on. */
    Group settings(BiFunction<String, StoreConfig.Builder, StoreConfig.Builder> changed) {
        settings = changed;
        return this;
    }

    /**
     * The first start of all hosts; returns when each has an entry on its disk, which is committed: Raft counts no vote of a
     * host whose log is empty, so one that was stopped before that would leave the two others without a majority.
     */
    Group create() throws IOException {
        create(hosts.stream().map(Host::id).toArray(String[]::new));
        Eventually.await(
                "all hosts have an entry",
                () -> members.values().stream().allMatch(member -> member.committedIndex() >= 0));
        return this;
    }

    /** The first start of these hosts. */
    void create(String... some) {
        atOnce(Stream.of(some), host -> start(host, GroupConfig.Start.CREATE));
    }

    void restart(String host) throws IOException {
        start(host, GroupConfig.Start.AGAIN);
    }

    void restart(Collection<String> several) {
        atOnce(several.stream(), this::restart);
    }

    /** Starts a host that is not one of the group yet. */
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

    /** Runs when a host leads no longer, before its store is closed and opened anew. */
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

    /** Does to each host what waits: to stop takes half a second, until Raft's threads look. */
    private static void atOnce(Stream<String> hosts, Action action) {
        try (Crew crew = new Crew()) {
            hosts.forEach(host -> crew.add(() -> action.of(host)));
            crew.run();
        }
    }

    private interface Action {
        void of(String host) throws IOException;
    }

    /** Of a host that was stopped. */
    void loseFiles(String host) throws IOException {
        Files.move(directory.resolve(host), directory.resolve(host + "-lost"));
    }

    GroupMember member(String host) {
        return members.get(host);
    }

    /** Waits until a host leads, and returns its id. */
    synchronized String awaitLeader() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (leading.isEmpty()) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            assertThat(leftMillis).as("a host leads in time").isPositive();
            wait(leftMillis);
        }
        return leading.keySet().iterator().next();
    }

    /** Waits until this store, which was lost, is no longer that of a host that leads. */
    private synchronized void awaitGone(@Nullable DurableListStore store) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (leading.containsValue(store)) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            assertThat(leftMillis)
                    .as("a host whose store is lost leads no longer")
                    .isPositive();
            wait(leftMillis);
        }
    }

    /** The store of a host that led a moment ago; null when it leads no longer. */
    @Nullable
    synchronized DurableListStore store(String host) {
        return leading.get(host);
    }

    /**
     * Appends where the leader is, and again if it is lost meanwhile: then nobody knows, so each attempt has a text of its
     * own. Returns the text that was acknowledged.
     */
    String append(long list, String text) throws InterruptedException {
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

    /** The values of a list, as the leader has them. */
    List<String> values(long list) throws InterruptedException {
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

    /** Waits until every host has applied what is committed by now: the leader, too, acknowledges before it has. */
    void awaitAllAlike() throws InterruptedException {
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

    /** A host that runs and does not lead. */
    String follower() throws InterruptedException {
        String leader = awaitLeader();
        return hosts.stream()
                .map(Host::id)
                .filter(id -> !id.equals(leader) && members.containsKey(id))
                .findFirst()
                .orElseThrow();
    }

    /** All hosts of the beginning but this one. */
    List<String> others(String than) {
        return hosts.stream().map(Host::id).filter(id -> !id.equals(than)).toList();
    }

    /** Appends until the Raft logs of all hosts that run have dropped their first entries, whichever may lead then. */
    void appendUntilTheLogIsDropped(long list) throws InterruptedException {
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

    /** Asks the leader, which may be another one by then, to hand over to this host. Returns whether it leads. */
    boolean handedOver(String host) {
        try {
            member(awaitLeader()).transferLeadership(host, HAND_OVER);
        } catch (IOException | InterruptedException moved) {
            System.out.println("not handed over: " + moved.getMessage());
        }
        return store(host) != null;
    }

    /** Waits until no host leads. */
    synchronized void awaitNoLeader() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!leading.isEmpty()) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            assertThat(leftMillis).as("the leader notices in time").isPositive();
            wait(leftMillis);
        }
    }

    /** Stops the hosts, whose stores have the same in them. */
    void assertAllAlike() throws InterruptedException {
        awaitAllAlike();
        Set<String> all = Set.copyOf(members.keySet());
        stop(all);
        List<StoreContents> contents = new ArrayList<>();
        for (String host : all) {
            StoreConfig store = config(host, GroupConfig.Start.AGAIN).store();
            assertThat(DurableListStore.verify(store.directory(), VerifyReport.Progress.NONE)
                            .faults())
                    .isEmpty();
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
