package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import io.caravan.cluster.GroupConfig;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterGroup;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import io.caravan.server.config.HostPort;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Crew;
import io.caravan.testing.Eventually;
import io.caravan.testing.FreePorts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a cluster in one JVM on the loopback interface, with three nodes for each Raft group. */
public final class TestCluster implements AutoCloseable {
    private static final Duration ELECTION = Duration.ofSeconds(1);
    /**
     * A long election timeout, for clusters of six nodes and for tests that send requests before the nodes detect the
     * loss of quorum.
     */
    private static final Duration LONG_ELECTION = Duration.ofSeconds(2);

    static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Path directory;
    private final ClusterFile file;
    private final UnaryOperator<ServerConfig> change;
    private final boolean linearizableReads;
    private final GroupConfig.@Nullable Tls tls;
    private final List<ClusterNode> newcomers = new ArrayList<>();
    private final Map<String, ClusterServer> running = new ConcurrentHashMap<>();
    private final Map<String, Cluster> views = new ConcurrentHashMap<>();
    private volatile InstantSource clock = InstantSource.system();

    public TestCluster(Path directory) throws IOException {
        this(directory, config -> config, null);
    }

    /** Starts a cluster with linearizable reads, in which a long timeout delays the detection of stopped nodes. */
    public static TestCluster linearizable(Path directory) throws IOException {
        return new TestCluster(directory, config -> config, null, true, ofOneGroup());
    }

    /**
     * Starts a cluster of two Raft groups with half of the slots each: the first has the nodes a, b, and c, the second
     * has {@code others}.
     *
     * @see #TestCluster(Path, UnaryOperator, GroupConfig.Tls)
     */
    public static TestCluster ofTwoGroups(
            Path directory, UnaryOperator<ServerConfig> change, GroupConfig.@Nullable Tls tls, String... others)
            throws IOException {
        return new TestCluster(
                directory,
                change,
                tls,
                false,
                ClusterFile.of(
                        UUID.randomUUID(),
                        Map.of(
                                SlotRange.ofGroup(0, 2),
                                freeNodes("a", "b", "c"),
                                SlotRange.ofGroup(1, 2),
                                freeNodes(others))));
    }

    /**
     * Starts a cluster whose servers are configured with {@code change}.
     *
     * @param tls the certificates of the nodes, or null for plain text
     */
    public TestCluster(Path directory, UnaryOperator<ServerConfig> change, GroupConfig.@Nullable Tls tls)
            throws IOException {
        this(directory, change, tls, false, ofOneGroup());
    }

    private static ClusterFile ofOneGroup() {
        return ClusterFile.of(UUID.randomUUID(), Map.of(SlotRange.ALL, freeNodes("a", "b", "c")));
    }

    private TestCluster(
            Path directory,
            UnaryOperator<ServerConfig> change,
            GroupConfig.@Nullable Tls tls,
            boolean linearizableReads,
            ClusterFile file)
            throws IOException {
        this.directory = directory;
        this.linearizableReads = linearizableReads;
        this.change = change;
        this.tls = tls;
        this.file = file;
        ofAll(file.nodes(), id -> start(id, GroupConfig.Start.CREATE));
    }

    /** Runs an action on several nodes concurrently. Each action spends most of its time waiting. */
    private void ofAll(List<ClusterNode> nodes, HostAction action) {
        try (Crew crew = new Crew()) {
            nodes.forEach(node -> crew.add(() -> action.on(node.id())));
            crew.run();
        }
    }

    @FunctionalInterface
    private interface HostAction {
        void on(String id) throws IOException;
    }

    private static List<ClusterNode> freeNodes(String... ids) {
        return Stream.of(ids)
                .map(id -> new ClusterNode(id, freeAddress(), freeAddress(), freeAddress()))
                .toList();
    }

    private static HostPort freeAddress() {
        return new HostPort("127.0.0.1", FreePorts.next());
    }

    public void restart(String id) throws IOException {
        start(id, GroupConfig.Start.AGAIN);
    }

    /** Restarts several nodes. */
    void restartAll(List<ClusterNode> nodes) {
        ofAll(nodes, this::restart);
    }

    /** Starts a new node for the first group. The node is not a member of the group yet. */
    public ClusterNode join(String id) throws IOException {
        ClusterNode node = freeNodes(id).get(0);
        newcomers.add(node);
        start(id, GroupConfig.Start.JOIN);
        return node;
    }

    private void start(String id, GroupConfig.Start start) throws IOException {
        ClusterFile file = newcomers.stream().anyMatch(node -> node.id().equals(id)) ? withNewcomers() : this.file;
        ClusterNode node = file.node(id);
        StoreConfig store = SmallFiles.config(directory.resolve(id).resolve("store"))
                .durability(Durability.PROCESS)
                .build();
        GroupConfig group = new GroupConfig(
                file.groupOf(id).id(),
                id,
                file.groupOf(id).nodes().stream().map(ClusterNode::member).toList(),
                store,
                directory.resolve(id).resolve("raft"),
                linearizableReads || file.groups().size() > 1 ? LONG_ELECTION : ELECTION,
                GroupConfig.DEFAULT_KEPT_LOG_BYTES,
                start,
                tls);
        InetSocketAddress http = node.http().resolve();
        ServerConfig config = ServerConfig.of(node.resp().resolve(), store)
                .withHttp(HttpConfig.of(http, store.maxValueBytes(), store.logBufferBytes()));
        Cluster view =
                new Cluster(file, id, tls == null ? null : client(tls), linearizableReads, () -> clock.instant());
        views.put(id, view);
        running.put(id, ClusterServer.start(group, change.apply(config), List.of(), view, null));
    }

    /** Returns the cluster file including the nodes that have joined since the start. */
    private ClusterFile withNewcomers() {
        List<ClusterGroup> groups = new ArrayList<>(file.groups());
        ClusterGroup first = groups.get(0);
        List<ClusterNode> nodes =
                Stream.concat(first.nodes().stream(), newcomers.stream()).toList();
        groups.set(0, new ClusterGroup(first.id(), first.slots(), nodes));
        return new ClusterFile(file.id(), groups);
    }

    /** Returns the client TLS context for connections to nodes with these certificates. */
    static SslContext client(GroupConfig.Tls tls) throws IOException {
        return SslContextBuilder.forClient()
                .trustManager(tls.authority().toFile())
                .keyManager(tls.certificates().toFile(), tls.key().toFile())
                .build();
    }

    /** Stops a node as a SIGTERM would. */
    public void stop(String id) throws IOException {
        running.remove(id).close();
    }

    /** Stops nodes without a transfer of leadership. */
    void stopAll(List<ClusterNode> nodes) {
        nodes.forEach(node -> view(node.id()).serving(false));
        ofAll(nodes, this::stop);
    }

    /** Stops the clock that the nodes' views of the cluster use, until the returned object is closed. */
    StoppedClock stopClock() {
        clock = InstantSource.fixed(clock.instant());
        return () -> clock = InstantSource.system();
    }

    /** A stopped clock, which resumes when it is closed. */
    interface StoppedClock extends AutoCloseable {
        @Override
        void close();
    }

    public List<ClusterNode> nodes() {
        return file.nodes();
    }

    public ClusterServer server(String id) {
        return running.get(id);
    }

    public Cluster view(String id) {
        return views.get(id);
    }

    /** Waits for the leader of the first group and returns it, as {@link #awaitLeader(int)} does. */
    public ClusterNode awaitLeader() {
        return awaitLeader(0);
    }

    /**
     * Waits until all running nodes of a group agree on a serving leader and each have a Raft entry, and returns this
     * leader. Without an entry, a node does not vote in elections.
     */
    public ClusterNode awaitLeader(int group) {
        AtomicReference<@Nullable ClusterNode> leader = new AtomicReference<>();
        Eventually.await("all nodes know the leader", () -> {
            leader.set(agreed(withNewcomers().groups().get(group).nodes()));
            return leader.get() != null;
        });
        return Objects.requireNonNull(leader.get());
    }

    /**
     * Transfers leadership to a node, and waits until the others follow. Retries, because the transfer may time out on
     * a busy machine.
     */
    void lead(ClusterNode next) {
        Eventually.await("node " + next.id() + " leads", () -> {
            ClusterNode leader = awaitLeader();
            if (!leader.equals(next)) {
                changeLeader(leader, "TRANSFER", next.id());
            }
            return awaitLeader().equals(next);
        });
        withNewcomers().groups().get(0).nodes().stream()
                .filter(node -> running.containsKey(node.id()) && !node.equals(next))
                .forEach(TestCluster::awaitFollows);
    }

    /** Sends a command that may end the leadership of the node, and with it the connection, before the reply. */
    void changeLeader(ClusterNode node, String... words) {
        String[] command =
                Stream.concat(Stream.of("CARAVAN.CLUSTER"), Stream.of(words)).toArray(String[]::new);
        try {
            System.out.println("reply to the change of the leader: " + call(node, command));
        } catch (IOException ended) {
            System.out.println("leadership changed before the reply: " + ended);
        }
    }

    /**
     * Waits until the node serves as a follower. A former leader closes connections and rejects requests until then.
     */
    static void awaitFollows(ClusterNode node) {
        HttpRequest relayed =
                request(node, "/v1/documents").header("Caravan-Relayed", "x").build();
        Eventually.await("node " + node.id() + " follows", () -> {
            try {
                return HTTP.send(relayed, BodyHandlers.ofString())
                        .headers()
                        .firstValue("Caravan-Relayed")
                        .isPresent();
            } catch (IOException ended) {
                return false;
            } catch (InterruptedException stopped) {
                throw new AssertionError(stopped);
            }
        });
    }

    private @Nullable ClusterNode agreed(List<ClusterNode> group) {
        List<Cluster> views = group.stream()
                .filter(node -> running.containsKey(node.id()))
                .map(node -> view(node.id()))
                .toList();
        List<ClusterNode> leading =
                views.stream().filter(Cluster::leads).map(Cluster::self).toList();
        boolean all = leading.size() == 1
                && views.stream()
                        .allMatch(view -> view.kept() > 0
                                && view.leader().equals(leading.stream().findFirst()));
        return all ? leading.get(0) : null;
    }

    /** Returns a running follower of the first group. */
    public ClusterNode follower() {
        ClusterNode leader = awaitLeader();
        return withNewcomers().nodes().stream()
                .filter(node -> running.containsKey(node.id()) && !node.equals(leader))
                .findFirst()
                .orElseThrow();
    }

    /** Connects a RESP client to a node. Retries while the node refuses connections because its role is changing. */
    public RespClient connect(ClusterNode node) throws IOException {
        AtomicReference<RespClient> client = new AtomicReference<>();
        InetSocketAddress address = node.resp().resolve();
        Eventually.await("node " + node.id() + " accepts connections", () -> {
            try {
                client.set(new RespClient(address));
                return true;
            } catch (IOException rejected) {
                return false;
            }
        });
        return client.get();
    }

    /** Sends a command to a node over a separate connection. */
    public String call(ClusterNode node, String... words) throws IOException {
        try (RespClient client = connect(node)) {
            return client.call(words);
        }
    }

    static HttpRequest.Builder request(ClusterNode node, String path) {
        return HttpRequest.newBuilder(URI.create("http://" + node.http() + path))
                .timeout(Duration.ofSeconds(60));
    }

    static HttpResponse<String> get(ClusterNode node, String path) {
        return send(node, "GET", path, "");
    }

    /** Sends an HTTP request to a node. A body that is not empty has a text content type. */
    static HttpResponse<String> send(ClusterNode node, String method, String path, String body, String... headers) {
        HttpRequest.Builder request = request(node, path)
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (!body.isEmpty()) {
            request.header("Content-Type", "text/plain");
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request.build());
    }

    static int status(ClusterNode node, String method, String path, String body) {
        return send(node, method, path, body).statusCode();
    }

    /** Appends a value over HTTP. Retries if a leader change interrupts the write, so it may append the value twice. */
    static void write(ClusterNode node, String path, String value) {
        AtomicReference<HttpResponse<String>> response = new AtomicReference<>();
        Eventually.await(
                () -> "the write is not interrupted by " + response.get().body(), () -> {
                    response.set(send(node, "POST", path, value));
                    return response.get().statusCode() != 503;
                });
        assertThat(response.get().statusCode()).as(response.get().body()).isEqualTo(204);
    }

    /** Sends an HTTP request. Retries while the node refuses connections because its role is changing. */
    private static HttpResponse<String> send(HttpRequest request) {
        AtomicReference<HttpResponse<String>> response = new AtomicReference<>();
        Eventually.await(request.uri() + " accepts connections", () -> {
            try {
                response.set(HTTP.send(request, BodyHandlers.ofString()));
                return true;
            } catch (ConnectException changing) {
                return false;
            } catch (IOException | InterruptedException failed) {
                throw new AssertionError(failed);
            }
        });
        return response.get();
    }

    @Override
    public void close() {
        stopAll(withNewcomers().nodes().stream()
                .filter(node -> running.containsKey(node.id()))
                .toList());
    }
}
