package io.caravan.server.cli.operate;

import io.caravan.server.cli.operate.Sample.Client;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The changes between two samples of a server. */
record Rates(Sample before, Sample after) {
    private static final double NANOS = 1e9;

    /** A client, and its commands per second. */
    record Busy(Client client, double commandsPerSecond) {}

    double seconds() {
        return Math.max(1, after.atNanos() - before.atNanos()) / NANOS;
    }

    /** Returns the growth of a counter per second; 0 if the server was restarted. */
    double perSecond(String counter) {
        long grown = after.info().numberOrZero(counter) - before.info().numberOrZero(counter);
        return Math.max(0, grown) / seconds();
    }

    /** Returns the clients with the most commands per second, the busiest first. */
    List<Busy> busiest(int most) {
        Map<Long, Long> earlier = new HashMap<>();
        before.clients().forEach(client -> earlier.put(client.id(), client.commands()));
        return after.clients().stream()
                .map(client -> new Busy(client, perSecond(client, earlier)))
                .sorted(Comparator.comparingDouble(Busy::commandsPerSecond)
                        .reversed()
                        .thenComparingLong(busy -> busy.client().id()))
                .limit(most)
                .toList();
    }

    /** Ids start again with the server, so the earlier client with the same id may have had more commands. */
    private double perSecond(Client client, Map<Long, Long> earlier) {
        return Math.max(0, client.commands() - earlier.getOrDefault(client.id(), 0L)) / seconds();
    }
}
