package io.caravan.server.cli.carry;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.ListStore;
import io.caravan.server.cli.client.ServedStore;
import java.io.IOException;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** One of the servers of a migration, with a client beside the migration, and a proxy in front for it. */
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
        return new Jedis("127.0.0.1", port, ServedStore.PATIENCE_MILLIS);
    }

    String address() {
        return server.address();
    }

    /** Appends, and returns whether that was acknowledged. */
    boolean append(String name, String... values) {
        try {
            client.rpush(name, values);
            return true;
        } catch (JedisDataException refused) {
            return false;
        }
    }

    /** The values of a document; none when it is elsewhere, or not visible. */
    List<String> values(String name) {
        try {
            return client.lrange(name, 0, -1);
        } catch (JedisDataException elsewhere) {
            return List.of();
        }
    }

    /** Drops values, of those that are there, and returns whether that was acknowledged. */
    boolean trim(String name, int count) {
        try {
            List<?> info = (List<?>) client.sendCommand(INFO, name);
            if (info == null) {
                return false;
            }
            long first = (Long) info.get(3);
            client.sendCommand(TRIM, name, "TO", String.valueOf(first + count));
            return true;
        } catch (JedisDataException refused) {
            return false;
        }
    }

    boolean delete(String name) {
        try {
            return client.del(name) == 1;
        } catch (JedisDataException refused) {
            return false;
        }
    }

    /** What an import leaves that was not ended. */
    void beginImport(String name) {
        try {
            client.sendCommand(IMPORT, name, "BEGIN", "0");
        } catch (JedisDataException taken) {
            // It is there.
        }
    }

    void restart() {
        restartWithout(List.of());
    }

    /** Starts again, without these documents, as if an older backup had been put in the place of the store. */
    void restartWithout(List<String> names) {
        List<Long> ids = names.stream()
                .map(name -> client.sendCommand(INFO, name))
                .filter(info -> info != null)
                .map(info -> (Long) ((List<?>) info).get(1))
                .toList();
        client.close();
        server.stop();
        ids.forEach(id -> store.delete(id).join());
        try {
            server.start();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        client = connected();
    }

    /** Removes what a round has made. */
    void clear(List<String> names) {
        for (String name : names) {
            try {
                client.sendCommand(() -> "CARAVAN.MOVE".getBytes(UTF_8), name, "ABANDON");
                client.sendCommand(() -> "CARAVAN.MOVE".getBytes(UTF_8), name, "FORGET");
                client.del(name);
            } catch (JedisDataException | JedisConnectionException unfinished) {
                // A part of an import, which the next start removes.
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
