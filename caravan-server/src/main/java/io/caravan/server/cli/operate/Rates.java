package io.caravan.server.cli.operate;

import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.operate.Rates.Sample.Client;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The changes in a server's statistics between two samples. */
record Rates(Sample before, Sample after) {
    private static final double NANOS = 1e9;
    private static final int SHOWN_CLIENTS = 5;

    /** A client, and its commands per second. */
    record Busy(Client client, double commandsPerSecond) {}

    double seconds() {
        return Math.max(1, after.atNanos() - before.atNanos()) / NANOS;
    }

    /** Returns the growth of a counter per second; 0 if the server was restarted. */
    double perSecond(String counter) {
        return after.info().growth(counter, before.info()) / seconds();
    }

    /** Returns the busiest clients; of equally busy ones, the oldest first. */
    List<Busy> busiest() {
        Map<Long, Long> earlier = new HashMap<>();
        before.clients().forEach(client -> earlier.put(client.id(), client.commands()));
        return after.clients().stream()
                .map(client -> new Busy(client, perSecond(client, earlier)))
                .sorted(Comparator.comparingDouble(Busy::commandsPerSecond)
                        .reversed()
                        .thenComparingLong(busy -> busy.client().id()))
                .limit(SHOWN_CLIENTS)
                .toList();
    }

    /** Returns the commands per second of a client. A restarted server reuses ids for clients with fewer commands. */
    private double perSecond(Client client, Map<Long, Long> earlier) {
        return Math.max(0, client.commands() - earlier.getOrDefault(client.id(), 0L)) / seconds();
    }

    /** The state of a server at one moment, by {@link System#nanoTime}. */
    record Sample(long atNanos, ServerInfo info, List<Client> clients) {

        /** A RESP connection, with a number that is unique since the server started, and the number of its commands. */
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

        /** Takes a sample of a server, without the client of this connection. */
        static Sample take(ServerConnection connection) {
            ServerInfo info = connection.info();
            List<Client> clients = new ArrayList<>();
            long own = (Long) Objects.requireNonNull(connection.call("CLIENT", "ID"));
            connection.text("CLIENT", "LIST").lines().map(Client::parse).forEach(clients::add);
            clients.removeIf(client -> client.id() == own);
            return new Sample(System.nanoTime(), info, clients);
        }
    }
}
