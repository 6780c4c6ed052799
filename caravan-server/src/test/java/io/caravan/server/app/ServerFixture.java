package io.caravan.server.app;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.server.protocol.resp.codec.RespLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.UnaryOperator;

/** A server with an in-memory store on a loopback port. */
public final class ServerFixture implements AutoCloseable {
    public static final int MAX_WORD_BYTES = 1024 * 1024;
    public static final int MAX_REQUEST_BYTES = 8 * 1024 * 1024;

    public final HeldStore store;
    public final Server server;

    public ServerFixture() throws IOException {
        this(ListStore.inMemory());
    }

    public ServerFixture(ListStore store) throws IOException {
        this(store, config -> config);
    }

    /** Starts a server whose configuration is changed first. */
    public ServerFixture(ListStore store, UnaryOperator<ServerConfig> change) throws IOException {
        this.store = new HeldStore(store);
        this.server = Server.start(
                this.store,
                change.apply(new ServerConfig(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        new RespLimits(MAX_WORD_BYTES, MAX_REQUEST_BYTES),
                        Durability.MEMORY)));
    }

    public RespClient connect() throws IOException {
        return new RespClient(server.respAddress());
    }

    @Override
    public void close() {
        store.giveRoom();
        store.release();
        server.close();
        store.close();
    }
}
