package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One connection, by the client library's lowest level: requests go out and answers come in, in the same order, and an
 * answer's memory is that of the answer alone. For one thread, except {@link #cut}. After an exception nothing can be read
 * from it any more, because it is not known whose answer would come.
 */
public final class ServerConnection implements AutoCloseable {
    private final Connection connection;
    private final HostPort server;
    private final int timeoutMillis;

    private ServerConnection(Connection connection, HostPort server, int timeoutMillis) {
        this.connection = connection;
        this.server = server;
        this.timeoutMillis = timeoutMillis;
    }

    static ServerConnection open(HostAndPort address, JedisClientConfig config, HostPort server) {
        int timeoutMillis = config.getSocketTimeoutMillis();
        Connection connection = translated(server, timeoutMillis, () -> new Connection(address, config));
        return new ServerConnection(connection, server, timeoutMillis);
    }

    /** Sends a request, or keeps it until the next {@link #receive}. */
    void send(CommandArguments request) {
        translated(server, timeoutMillis, () -> {
            connection.sendCommand(request);
            return connection;
        });
    }

    /** The answer to the oldest request that has none yet; null is an answer. */
    @Nullable
    Object receive() {
        return translated(server, timeoutMillis, connection::getOne);
    }

    /** Sends a request and waits for its answer. */
    @Nullable
    Object call(CommandArguments request) {
        send(request);
        return receive();
    }

    /** As {@link #call}, for a request that the server may wait that much longer with. */
    @Nullable
    Object callBlocking(CommandArguments request, int blockMillis) {
        int waitMillis = blockMillis + timeoutMillis;
        return translated(server, waitMillis, () -> {
            connection.setSoTimeout(waitMillis);
            connection.sendCommand(request);
            Object answer = connection.getOne();
            connection.setSoTimeout(timeoutMillis);
            return answer;
        });
    }

    private static <T extends @Nullable Object> T translated(HostPort server, int waitMillis, Supplier<T> action) {
        try {
            return action.get();
        } catch (JedisException problem) {
            throw Problems.translate(problem, server, TimeUnit.MILLISECONDS.toSeconds(waitMillis));
        }
    }

    /** Ends it from another thread, so that a wait for an answer ends with an exception. */
    void cut() {
        try {
            connection.forceDisconnect();
        } catch (IOException alreadyGone) {
            // That is what was wanted.
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (JedisException alreadyGone) {
            // Whoever used it has been told.
        }
    }
}
