package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.server.app.DelayedStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.metrics.DiskSpace;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Network;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.TestLimits;
import io.caravan.server.net.Unbounded;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Authenticator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A RESP server that has one event loop and two reading threads, uses a loopback port, and does not serve HTTP. */
final class RespFixture implements AutoCloseable {
    private static final int READERS = 2;

    final DelayedStore store;
    final DocumentService documents;
    final Network network;
    final InetSocketAddress address;
    /** The number of milliseconds by which the test has advanced the clock that is used for document expiry. */
    final AtomicLong aheadMillis = new AtomicLong();

    final ServerMetrics metrics = new ServerMetrics();
    private final ThreadPoolExecutor readers = (ThreadPoolExecutor) Executors.newFixedThreadPool(READERS);

    RespFixture() throws IOException {
        this(ListStore.inMemory(), Authenticator.open(), ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
    }

    RespFixture(ListStore store, Authenticator authenticator, long maxRequestBytes, Duration stall) throws IOException {
        this(store, authenticator, maxRequestBytes, stall, null);
    }

    private RespFixture(
            ListStore store,
            Authenticator authenticator,
            long maxRequestBytes,
            Duration stall,
            @Nullable Cluster cluster)
            throws IOException {
        NetworkLimits limits = TestLimits.of(10_000, 16 << 20, 64 << 20, stall, stall, Duration.ZERO);
        this.store = new DelayedStore(store);
        Instant start = Instant.now();
        InstantSource clock = () -> start.plusMillis(aheadMillis.get());
        this.documents = new DocumentService(
                this.store,
                Catalog.open(this.store, DocumentService.CATALOG_LIST_ID),
                clock,
                () -> TimeUnit.MILLISECONDS.toNanos(clock.millis()),
                Duration.ofHours(1),
                DocumentDurability.SYNC);
        NetworkConfig defaults = NetworkConfig.defaults();
        this.network = new Network(new NetworkConfig(defaults.transport(), 1, limits, null));
        RespLimits requests = new RespLimits(ServerFixture.MAX_WORD_BYTES, maxRequestBytes);
        this.address = network.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                "--resp",
                protocol(requests, cluster, readers, authenticator, metrics));
    }

    /** Creates a protocol handler for the documents of this server. */
    RespProtocol protocol(
            RespLimits limits,
            @Nullable Cluster cluster,
            Executor readers,
            Authenticator authenticator,
            ServerMetrics metrics) {
        int most = limits.maxWordBytes();
        DiskSpace disk = new DiskSpace(Path.of("."));
        ServerStatus status = new ServerStatus(
                documents, network, Durability.MEMORY, most, null, disk, Backups.none(), cluster, 0, System.nanoTime());
        return new RespProtocol(limits, status, null, readers, authenticator, metrics);
    }

    /** Returns the session of a connection without a server. */
    static Session session(EmbeddedChannel channel) {
        return session(channel, Unbounded.memory(channel));
    }

    /** Returns the session of a connection without a server, with this memory. */
    static Session session(EmbeddedChannel channel, ConnectionMemory memory) {
        ReplyQueue replies = new ReplyQueue(channel, channel.eventLoop(), memory, new NoOwner());
        return new Session(1, channel, Authenticator.open(), new Channels(), replies);
    }

    /** Opens the reply to a command. */
    static PendingReply open(Session session, String... words) {
        return session.replies.open(session, command(words), 0);
    }

    /** The owner of a queue that the test flushes. */
    private static final class NoOwner implements ReplyQueue.Owner {
        @Override
        public void progress() {}

        @Override
        public boolean inProgress() {
            return true;
        }

        @Override
        public void ended(PendingReply reply, RequestOutcome outcome, long nanos) {}
    }

    /** Returns a request whose first word is not looked up. */
    static Command command(String... words) {
        return command(CommandSpec.UNKNOWN, words);
    }

    static Command command(CommandSpec spec, String... words) {
        byte[][] bytes = Stream.of(words).map(word -> word.getBytes(UTF_8)).toArray(byte[][]::new);
        return new Command(Map.of(new AsciiString(words[0]), spec), bytes);
    }

    static RespFixture with(Authenticator authenticator) throws IOException {
        return new RespFixture(
                ListStore.inMemory(), authenticator, ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
    }

    /** Starts a server that acts as the leader of a cluster. */
    static RespFixture leading(Cluster cluster, Authenticator authenticator) throws IOException {
        cluster.serving(true);
        return new RespFixture(
                ListStore.inMemory(), authenticator, ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30), cluster);
    }

    /** Connects a client with a receive buffer of about this size. */
    RespClient connect(int receiveBytes) throws IOException {
        return new RespClient(address, receiveBytes);
    }

    RespClient connect() throws IOException {
        return new RespClient(address);
    }

    /** Occupies all reading threads until the latch is counted down. Returns once all of them are occupied. */
    void occupyReaders(CountDownLatch until) throws InterruptedException {
        CountDownLatch occupied = new CountDownLatch(READERS);
        for (int i = 0; i < READERS; i++) {
            readers.execute(() -> {
                occupied.countDown();
                try {
                    until.await();
                } catch (InterruptedException closed) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        occupied.await();
    }

    /** Returns the number of tasks that wait for a reading thread. */
    int waitingForReaders() {
        return readers.getQueue().size();
    }

    @Override
    public void close() {
        store.freeSpace();
        store.release();
        network.drain(Duration.ofSeconds(10));
        documents.close();
        readers.shutdownNow();
        network.close();
        store.close();
        metrics.close();
    }
}
