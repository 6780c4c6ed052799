package io.caravan.server;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.MemoryListStore;
import io.caravan.catalog.Catalog;
import io.caravan.server.document.DocumentService;
import io.caravan.server.resp.RespLimits;
import io.caravan.server.resp.RespServer;
import io.caravan.server.security.Authenticator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** RESP alone over a store, on a loopback port of its own, with one event loop and two reading threads. */
final class RespFixture implements AutoCloseable {
    private static final int READERS = 2;

    final HeldStore store;
    final DocumentService documents;
    final RespServer server;
    /** How far the clock by which documents expire is ahead of the system's. */
    final AtomicLong aheadMillis = new AtomicLong();

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ExecutorService readers = Executors.newFixedThreadPool(READERS);

    RespFixture() throws IOException {
        this(new MemoryListStore(), Authenticator.open(), ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
    }

    RespFixture(ListStore store, Authenticator authenticator, long maxRequestBytes, Duration stall) throws IOException {
        this.store = new HeldStore(store);
        InstantSource system = InstantSource.system();
        InstantSource clock = () -> Instant.ofEpochMilli(system.millis() + aheadMillis.get());
        this.documents = new DocumentService(
                this.store, Catalog.open(this.store, Server.CATALOG_LIST_ID), clock, Duration.ofHours(1));
        ServerStatus status =
                new ServerStatus(documents, new DefaultChannelGroup(GlobalEventExecutor.INSTANCE), Durability.NONE);
        this.server = RespServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new RespLimits(ServerFixture.MAX_WORD_BYTES, maxRequestBytes, stall),
                loops,
                readers,
                documents,
                status,
                authenticator);
    }

    static RespFixture with(Authenticator authenticator) throws IOException {
        return new RespFixture(
                new MemoryListStore(), authenticator, ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
    }

    RespClient connect() throws IOException {
        return new RespClient(server.address());
    }

    @Override
    public void close() {
        store.giveRoom();
        store.release();
        server.drain(TimeUnit.SECONDS.toNanos(10));
        documents.close();
        readers.shutdownNow();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        store.close();
    }
}
