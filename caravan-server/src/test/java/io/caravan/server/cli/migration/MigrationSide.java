package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.ListStore;
import io.caravan.server.cli.client.ServedStore;
import java.io.IOException;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** The source or the target of a migration, with a proxy for the migration and a direct client. */
final class MigrationSide implements AutoCloseable {
    private static final ProtocolCommand TRIM = () -> "CARAVAN.TRIM".getBytes(UTF_8);
    private static final ProtocolCommand IMPORT = () -> "CARAVAN.IMPORT".getBytes(UTF_8);
    private static final ProtocolCommand INFO = () -> "CARAVAN.INFO".getBytes(UTF_8);

    private final ListStore store = ListStore.inMemory();
    private final ServedStore server = new ServedStore(store, config -> config);
    private final int port = Integer.parseInt(server.address().split(":", 2)[1]);
    final TrippedProxy proxy = new TrippedProxy(port);
    private Jedis client = connected();

    MigrationSide() throws IOException {}

    private Jedis connected() {
        return new Jedis("127.0.0.1", port, ServedStore.TIMEOUT_MILLIS);
    }

    String address() {
        return server.address();
    }

    /** Appends values, and returns whether the server acknowledged them. */
    boolean append(String name, String... values) {
        try {
            client.rpush(name, values);
            return true;
        } catch (JedisDataException rejected) {
            return false;
        }
    }

    /** Returns the values of a document, or none if the document is on another server or is not visible. */
    List<String> values(String name) {
        try {
            return client.lrange(name, 0, -1);
        } catch (JedisDataException elsewhere) {
            return List.of();
        }
    }

    /** Trims {@code count} values of a document, and returns whether the server acknowledged the trim. */
    boolean trim(String name, int count) {
        try {
            List<?> info = (List<?>) client.sendCommand(INFO, name);
            if (info == null) {
                return false;
            }
            long first = (Long) info.get(3);
            client.sendCommand(TRIM, name, "TO", String.valueOf(first + count));
            return true;
        } catch (JedisDataException rejected) {
            return false;
        }
    }

    boolean delete(String name) {
        try {
            return client.del(name) == 1;
        } catch (JedisDataException rejected) {
            return false;
        }
    }

    /** Starts an import of a document and leaves it unfinished. */
    void beginImport(String name) {
        try {
            client.sendCommand(IMPORT, name, "BEGIN", "0");
        } catch (JedisDataException taken) {
            // The document exists.
        }
    }

    void restart() {
        restartWithout(List.of());
    }

    /** Restarts the server without these documents, as if restored from an older backup. */
    void restartWithout(List<String> names) {
        List<Long> ids = names.stream()
                .map(name -> client.sendCommand(INFO, name))
                .filter(info -> info != null)
                .map(info -> (Long) ((List<?>) info).get(1))
                .toList();
        client.close();
        server.stop();
        ids.forEach(id -> store.delete(id).join());
        server.start();
        client = connected();
    }

    /** Removes these documents, which a round has created. */
    void clear(List<String> names) {
        for (String name : names) {
            try {
                client.sendCommand(() -> "CARAVAN.MOVE".getBytes(UTF_8), name, "ABANDON");
                client.sendCommand(() -> "CARAVAN.MOVE".getBytes(UTF_8), name, "FORGET");
                client.del(name);
            } catch (JedisDataException | JedisConnectionException unfinished) {
                // The document is part of an unfinished import, which the next start of the server removes.
            }
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
        proxy.close();
        server.close();
    }
}
