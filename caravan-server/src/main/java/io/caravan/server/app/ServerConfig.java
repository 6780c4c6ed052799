package io.caravan.server.app;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.resp.RespLimits;
import io.caravan.server.security.Authenticator;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a server, apart from its store. Null disables HTTP or the archive; {@code INFO} reports the
 * store's durability; {@code readers} is the number of threads that read from the store.
 */
public record ServerConfig(
        InetSocketAddress resp,
        @Nullable HttpConfig http,
        RespLimits limits,
        Durability durability,
        NetworkConfig network,
        Authenticator authenticator,
        int readers,
        @Nullable ArchiveConfig archive,
        RestoreConfig restore) {
    /** Bytes for names and other short arguments in a request, in addition to values that fill a log buffer. */
    private static final int REQUEST_ROOM_BYTES = 4 * 1024 * 1024;

    /** Creates a configuration with defaults, whose limits allow every request that the store accepts. */
    public static ServerConfig of(InetSocketAddress resp, StoreConfig store) {
        return new ServerConfig(resp, respLimits(store), store.durability());
    }

    /** Creates a configuration with these limits, without authentication, and with defaults for everything else. */
    public ServerConfig(InetSocketAddress resp, RespLimits limits, Durability durability) {
        this(
                resp,
                null,
                limits,
                durability,
                NetworkConfig.defaults(),
                Authenticator.open(),
                defaultReaders(),
                null,
                RestoreConfig.NOTHING);
    }

    /** Returns limits that allow the largest request that the store can accept. */
    public static RespLimits respLimits(StoreConfig store) {
        return new RespLimits(store.maxValueBytes(), store.logBufferBytes() + (long) REQUEST_ROOM_BYTES);
    }

    /** Returns the default number of reader threads. It may exceed the number of cores: reads wait for the disk. */
    public static int defaultReaders() {
        return Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
    }

    public ServerConfig withNetwork(NetworkConfig other) {
        return new ServerConfig(resp, http, limits, durability, other, authenticator, readers, archive, restore);
    }

    public ServerConfig withAuthenticator(Authenticator other) {
        return new ServerConfig(resp, http, limits, durability, network, other, readers, archive, restore);
    }

    public ServerConfig withLimits(RespLimits other) {
        return new ServerConfig(resp, http, other, durability, network, authenticator, readers, archive, restore);
    }

    /** Whether other machines can reach one of the addresses. */
    public boolean reachable() {
        return !resp.getAddress().isLoopbackAddress()
                || http != null && !http.address().getAddress().isLoopbackAddress();
    }

    public ServerConfig withHttp(HttpConfig other) {
        return new ServerConfig(resp, other, limits, durability, network, authenticator, readers, archive, restore);
    }

    public ServerConfig withArchive(ArchiveConfig other) {
        return new ServerConfig(resp, http, limits, durability, network, authenticator, readers, other, restore);
    }

    public ServerConfig withRestore(RestoreConfig other) {
        return new ServerConfig(resp, http, limits, durability, network, authenticator, readers, archive, other);
    }
}
