package io.caravan.server.cli.operate;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The statistics of a server, with its RESP clients, at two moments. */
record TopReport(Sample before, Sample after) {
    /** The lines of the report before the rates, with statistics of {@code INFO} in braces. */
    private static final String HEAD = """
            caravan {caravan_version}, up {uptime_in_seconds}, durability {durability}, store {store_state}
            IT REJECTS WRITES: {store_problem}
            documents: {documents}, values: {values}, connections: {connected_clients}
            """;

    /** The counters of {@code INFO} whose rates are shown. */
    private static final List<String> COUNTERS = List.of(
            "appends",
            "appended_bytes",
            "reads",
            "trims",
            "deletes",
            "log_fsyncs",
            "log_bytes",
            "rejections",
            "failures");

    private static final String RATE = "%-14s %14s %14s";

    /** The lines of the report after the rates. */
    private static final String FACTS = """
            acknowledged in {ack_p50_us} (median), {ack_p99_us} (99 of 100), since the start
            fsynced      in {fsync_p50_us} (median), {fsync_p99_us} (99 of 100), {records_per_flush_mean} records each
            checkpoints  {checkpoints}, the last took {checkpoint_last_ms} ms; {log_bytes_since_checkpoint} of log to replay
            values       {heap_used_bytes} in the log and the heap
            heap         {heap_free_bytes} of {heap_total_bytes} free, largest hole {heap_largest_hole_bytes}
            disk         {disk_free_bytes} of {disk_total_bytes} free
            JVM heap     {memory_used_bytes} of {memory_max_bytes} used
            archive      {archive_state}
            not archived {archive_backlog}, the oldest for {archive_lag_seconds}
            cluster      {cluster_role} of slots {cluster_slots}, {cluster_unapplied_entries} entries behind
            leader       {cluster_leader}
            """;

    private static final Pattern STATISTIC = Pattern.compile("\\{(\\w+)}");
    private static final String CLIENT = "%-28s %12s %12s  %-12s %s";
    private static final int SHOWN_CLIENTS = 5;
    private static final int DECIMALS = 3;

    /**
     * The state of a server at one moment, by {@link System#nanoTime}.
     *
     * @param clients the fields of the connections in {@code CLIENT LIST}
     */
    record Sample(long atNanos, ServerInfo info, List<Map<String, String>> clients) {
        /** Takes a sample of a server, without the client of this connection. */
        static Sample take(ServerConnection connection) {
            ServerInfo info = connection.info();
            String own = String.valueOf(connection.call("CLIENT", "ID"));
            List<Map<String, String>> clients = connection
                    .text("CLIENT", "LIST")
                    .lines()
                    .map(Sample::client)
                    .filter(client -> !own.equals(client.get("id")))
                    .toList();
            return new Sample(System.nanoTime(), info, clients);
        }

        /** Parses a line of {@code CLIENT LIST}, which consists of words of the form {@code name=value}. */
        static Map<String, String> client(String line) {
            return Arrays.stream(line.split(" "))
                    .map(word -> word.split("=", 2))
                    .filter(pair -> pair.length == 2)
                    .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1], (one, other) -> other));
        }
    }

    /** A client, with the number of its commands, and their rate. */
    record Busy(String address, String user, String name, long commands, BigDecimal commandsPerSecond) {}

    private double seconds() {
        return Math.max(1, after.atNanos() - before.atNanos()) / 1e9;
    }

    /** Returns the growth of a counter per second; 0 if the server was restarted. */
    double perSecond(String counter) {
        return after.info().growth(counter, before.info()) / seconds();
    }

    /** Returns the busiest clients; of equally busy ones, the oldest first. */
    List<Busy> busiest() {
        Map<String, Long> earlier = before.clients().stream()
                .collect(Collectors.toMap(
                        client -> client.getOrDefault("id", ""), client -> number(client, "tot-cmds")));
        return after.clients().stream()
                .sorted(Comparator.comparingLong(client -> number(client, "id")))
                .map(client -> busy(client, earlier.getOrDefault(client.getOrDefault("id", ""), 0L)))
                .sorted(Comparator.comparing(Busy::commandsPerSecond).reversed())
                .limit(SHOWN_CLIENTS)
                .toList();
    }

    /** Returns the activity of a client. A restarted server reuses ids for clients with fewer commands. */
    private Busy busy(Map<String, String> client, long earlierCommands) {
        long commands = number(client, "tot-cmds");
        return new Busy(
                client.getOrDefault("addr", ""),
                client.getOrDefault("user", ""),
                client.getOrDefault("name", ""),
                commands,
                rounded(Math.max(0, commands - earlierCommands) / seconds()));
    }

    private static long number(Map<String, String> client, String field) {
        return Long.parseLong(client.getOrDefault(field, "0"));
    }

    private static BigDecimal rounded(double value) {
        return new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_UP);
    }

    /** Returns the rates, the busiest clients, and the statistics, for output as JSON. */
    Map<String, ?> fields() {
        Map<String, Object> rates = new LinkedHashMap<>();
        COUNTERS.forEach(counter -> rates.put(counter, rounded(perSecond(counter))));
        return Output.fields(
                "at",
                Instant.now().toString(),
                "seconds",
                rounded(seconds()),
                "perSecond",
                rates,
                "busiestClients",
                busiest(),
                after.info().fields());
    }

    /** Returns the lines of the report, starting with the most important ones. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(filled(HEAD));
        lines.add("");
        lines.add(String.format(Locale.ROOT, RATE, "", "each second", "since start"));
        COUNTERS.forEach(counter -> lines.add(
                counter.endsWith("bytes")
                        ? rate(counter, Figures.size((long) perSecond(counter)))
                        : rate(counter, String.format(Locale.ROOT, "%,.1f", perSecond(counter)))));
        lines.add("");
        lines.addAll(filled(FACTS));
        List<Busy> busiest = busiest();
        if (!busiest.isEmpty()) {
            lines.add("");
            lines.add(String.format(Locale.ROOT, CLIENT, "busiest clients", "each second", "all", "user", "name"));
            busiest.forEach(each -> lines.add(String.format(
                    Locale.ROOT,
                    CLIENT,
                    each.address(),
                    each.commandsPerSecond(),
                    each.commands(),
                    each.user(),
                    each.name())));
        }
        // The name of a client may contain control characters.
        return lines.stream()
                .map(line -> DocumentName.printable(line.stripTrailing()))
                .toList();
    }

    private String rate(String counter, String perSecond) {
        return String.format(Locale.ROOT, RATE, counter.replace('_', ' '), perSecond, statistic(counter));
    }

    /** Inserts the statistics into lines. Omits a line if one of its statistics is absent or empty. */
    private List<String> filled(String lines) {
        return lines.lines()
                .filter(line -> STATISTIC
                        .matcher(line)
                        .results()
                        .noneMatch(name -> statistic(name.group(1)).isEmpty()))
                .map(line ->
                        STATISTIC.matcher(line).replaceAll(name -> Matcher.quoteReplacement(statistic(name.group(1)))))
                .toList();
    }

    /** Returns a statistic with its unit, according to its name. */
    private String statistic(String name) {
        ServerInfo info = after.info();
        OptionalLong number = info.number(name);
        if (name.endsWith("_seconds") && !info.text(name).isEmpty()) {
            return Figures.age(info.seconds(name));
        }
        if (number.isEmpty()) {
            return info.text(name);
        }
        if (name.contains("bytes")) {
            return Figures.size(number.getAsLong());
        }
        return name.endsWith("_us")
                ? String.format(Locale.ROOT, "%.1f ms", number.getAsLong() / 1e3)
                : String.format(Locale.ROOT, "%,d", number.getAsLong());
    }
}
