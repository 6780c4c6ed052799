package io.caravan.server.cli.operate;

import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The state of a server at one moment.
 *
 * @param atNanos the time of the sample, by {@link System#nanoTime}
 */
record Sample(long atNanos, ServerInfo info, List<Client> clients) {

    /**
     * A RESP connection; HTTP connections, such as those of browsers, are not listed.
     *
     * @param id a number that is unique among all connections since the server started
     * @param commands the number of commands received over the connection
     */
    record Client(long id, String address, String user, String name, long commands) {
        /** Parses a line of {@code CLIENT LIST}, which consists of words of the form {@code name=value}. */
        static Client parse(String line) {
            Map<String, String> fields = new HashMap<>();
            for (String word : line.split(" ")) {
                int equals = word.indexOf('=');
                if (equals > 0) {
                    fields.put(word.substring(0, equals), word.substring(equals + 1));
                }
            }
            return new Client(
                    number(fields, "id"),
                    fields.getOrDefault("addr", ""),
                    fields.getOrDefault("user", ""),
                    fields.getOrDefault("name", ""),
                    number(fields, "tot-cmds"));
        }

        private static long number(Map<String, String> fields, String name) {
            return Long.parseLong(fields.getOrDefault(name, "0"));
        }
    }

    /**
     * Takes a sample of a server. The client of this connection is not included. Throws an exception if permission is
     * missing or the connection is lost.
     */
    static Sample take(ServerConnection connection) {
        ServerInfo info = connection.info();
        List<Client> clients = new ArrayList<>();
        long own = (Long) Objects.requireNonNull(connection.call("CLIENT", "ID"));
        connection.text("CLIENT", "LIST").lines().map(Client::parse).forEach(clients::add);
        clients.removeIf(client -> client.id() == own);
        return new Sample(System.nanoTime(), info, clients);
    }
}
