package io.caravan.server.cli.operate;

import io.caravan.server.cli.operate.Sample.Client;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What happened between two looks at a server. */
record Rates(Sample before, Sample after) {
    private static final double NANOS = 1e9;

    /** A client, and its commands in a second. */
    record Busy(Client client, double commandsPerSecond) {}

    double seconds() {
        return Math.max(1, after.atNanos() - before.atNanos()) / NANOS;
    }

    /** How fast a counter grew, in a second; 0 when the server was started anew. */
    double perSecond(String counter) {
        long grown = after.info().numberOrZero(counter) - before.info().numberOrZero(counter);
        return Math.max(0, grown) / seconds();
    }

    /** The clients with the most commands, the busiest first. */
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

    /** Ids begin anew with the server, so one that is known may have more commands behind it than it has now. */
    private double perSecond(Client client, Map<Long, Long> earlier) {
        return Math.max(0, client.commands() - earlier.getOrDefault(client.id(), 0L)) / seconds();
    }
}
