package io.caravan.server.cli.client;

import io.caravan.server.cluster.SlotRange;
import io.caravan.server.config.HostPort;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The statistics of a server at one moment.
 *
 * @param sections the statistics of each section, under the names that the server uses; section names are in lower case
 */
public record ServerInfo(Map<String, Map<String, String>> sections) {
    public static final String NODES = "cluster_node_";
    public static final String SLOTS = "cluster_slots_";
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,9})?");

    /** Parses the reply to {@code INFO}: {@code # Section}, then a {@code name:value} line for each statistic. */
    public static ServerInfo parse(String reply) {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        Map<String, String> section = new LinkedHashMap<>();
        for (String line : (Iterable<String>) reply.lines()::iterator) {
            int colon = line.indexOf(':');
            if (line.startsWith("# ")) {
                section = new LinkedHashMap<>();
                sections.put(line.substring(2).toLowerCase(Locale.ROOT), section);
            } else if (colon > 0) {
                section.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        return new ServerInfo(sections);
    }

    /**
     * Returns a statistic as the server wrote it; empty if it is absent, for example because the user lacks permission.
     */
    public String text(String name) {
        for (Map<String, String> section : sections.values()) {
            String value = section.get(name);
            if (value != null) {
                return value;
            }
        }
        return "";
    }

    /**
     * Returns the leader's address for each Raft group of the server's cluster, by the group's slots; empty for a
     * single server.
     *
     * @throws ClientException if a group has no leader
     */
    Map<SlotRange, HostPort> leaders() {
        Map<SlotRange, HostPort> leaders = new TreeMap<>();
        ofCluster(SLOTS).forEach((slots, fields) -> {
            String resp = fields.get("resp");
            if (resp == null) {
                throw ClientException.notLeader(
                        "no node leads the slots " + slots + " at the moment: nothing was changed; try again", null);
            }
            leaders.put(SlotRange.parse(slots), HostPort.parse(resp));
        });
        return leaders;
    }

    /**
     * Returns the fields of the nodes or the slots of the cluster.
     *
     * @param prefix {@link #NODES} or {@link #SLOTS}; the names of the result lack it
     */
    public Map<String, Map<String, String>> ofCluster(String prefix) {
        Map<String, Map<String, String>> found = new LinkedHashMap<>();
        sections.getOrDefault("cluster", Map.of()).forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                Map<String, String> fields = new LinkedHashMap<>();
                Arrays.stream(value.split(","))
                        .map(field -> field.split("=", 2))
                        .filter(field -> field.length == 2)
                        .forEach(field -> fields.put(field[0], field[1]));
                found.put(name.substring(prefix.length()), fields);
            }
        });
        return found;
    }

    /** Returns an integer statistic; empty if it is absent. */
    public OptionalLong number(String name) {
        return Resp.parse(text(name));
    }

    /** Returns an integer statistic; 0 if it is absent. */
    public long numberOrZero(String name) {
        return number(name).orElse(0);
    }

    /** Returns the growth of a counter since {@code before}; 0 if the server was restarted. */
    public long growth(String counter, ServerInfo before) {
        return Math.max(0, numberOrZero(counter) - before.numberOrZero(counter));
    }

    /** Returns a statistic that is a time in seconds, possibly with a fraction; zero if it is absent. */
    public Duration seconds(String name) {
        String value = text(name);
        return NUMBER.matcher(value).matches()
                ? Duration.ofMillis((long) (Double.parseDouble(value) * 1_000))
                : Duration.ZERO;
    }

    /** Returns the sections with their statistics, for output as JSON; a statistic is a number or text. */
    public Map<String, Map<String, Object>> fields() {
        Map<String, Map<String, Object>> fields = new LinkedHashMap<>();
        sections.forEach((section, figures) -> {
            Map<String, Object> values = new LinkedHashMap<>();
            figures.forEach(
                    (name, value) -> values.put(name, NUMBER.matcher(value).matches() ? new BigDecimal(value) : value));
            fields.put(section, values);
        });
        return fields;
    }
}
