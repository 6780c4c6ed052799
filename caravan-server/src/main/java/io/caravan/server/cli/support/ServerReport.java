package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ConnectionOptions;
import io.caravan.server.cli.client.HttpLink.StatusClient;
import io.caravan.server.cli.client.HttpLink.StatusClient.Page;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.config.Setting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParameterException;

/** Collects data from a running server, as far as it responds and permissions allow. */
final class ServerReport {
    private static final int PINGS = 20;
    private static final int OK = 200;
    private static final int NOT_READY = 503;

    private final SupportFile file;
    private final Consumer<String> messages;
    private ServerInfo info = new ServerInfo(Map.of());

    /** Extracts the part of a response that may be disclosed. */
    private interface Showing {
        Object of(byte[] body) throws IOException;
    }

    /**
     * Creates a collector for a file.
     *
     * @param messages receives the original error messages for the user; the file must not contain them
     */
    ServerReport(SupportFile file, Consumer<String> messages) {
        this.file = file;
        this.messages = messages;
    }

    /** Adds the data that the server offers over RESP. */
    void overResp(ServerConnection.Connector server) {
        try (ServerConnection connection = server.connect()) {
            info = connection.info();
            file.json("server/info.json", "status of the server, from INFO", shown(info));
            if (info.text("store_state").isEmpty()) {
                file.missing("most of server/info.json", "the user has no permission admin");
            }
            file.json("server/latency.json", "latency of PING over one connection", latency(connection));
            file.json(
                    "server/slowlog.json",
                    "slow commands, latest first, without their arguments and clients",
                    slowLog(connection));
        } catch (ServerConnection.LostException down) {
            missing("server over RESP", "no server responds at --server, or it stopped responding", down);
        } catch (ClientException rejected) {
            missing(
                    "server over RESP",
                    "the server rejected the request: wrong password, or no permission admin",
                    rejected);
        } catch (IOException unreadable) {
            missing("server over RESP", "a file of the connection's options cannot be read", unreadable);
        }
    }

    private static Map<String, Object> shown(ServerInfo info) {
        Map<String, Object> shown = new LinkedHashMap<>();
        info.sections().forEach((section, figures) -> {
            if (AllowList.SECTIONS.contains(section)) {
                shown.put(section, AllowList.INFO.values(figures));
            }
        });
        return shown;
    }

    /** The latencies of several requests. */
    private record Latency(int pings, long shortestMicros, long medianMicros, long longestMicros) {}

    private static Latency latency(ServerConnection connection) {
        long[] nanos = new long[PINGS];
        for (int i = 0; i < PINGS; i++) {
            long began = System.nanoTime();
            connection.call("PING");
            nanos[i] = System.nanoTime() - began;
        }
        Arrays.sort(nanos);
        return new Latency(PINGS, nanos[0] / 1_000, nanos[PINGS / 2] / 1_000, nanos[PINGS - 1] / 1_000);
    }

    private record SlowCommand(long atSeconds, long micros, String command, int words) {}

    /** Returns the slow log. Discloses the first word of an entry only if it is a command of the server. */
    private static List<SlowCommand> slowLog(ServerConnection connection) {
        Set<String> commands = list(connection.call("COMMAND", "LIST")).stream()
                .map(ServerReport::lower)
                .collect(Collectors.toSet());
        List<SlowCommand> entries = new ArrayList<>();
        for (Object each : list(connection.call("SLOWLOG", "GET", "-1"))) {
            List<?> fields = list(each);
            List<?> words = fields.size() > 3 ? list(fields.get(3)) : List.of();
            if (words.isEmpty()
                    || !(fields.get(1) instanceof Long startedSeconds)
                    || !(fields.get(2) instanceof Long micros)) {
                continue;
            }
            String verb = lower(words.get(0));
            String shown = commands.contains(verb) ? verb : AllowList.HIDDEN;
            entries.add(new SlowCommand(startedSeconds, micros, shown, words.size()));
        }
        return entries;
    }

    private static List<?> list(@Nullable Object reply) {
        return reply instanceof List<?> list ? list : List.of();
    }

    private static String lower(@Nullable Object word) {
        return word instanceof byte[] bytes ? new String(bytes, UTF_8).toLowerCase(Locale.ROOT) : "";
    }

    /** Adds the pages that the server offers over HTTP. */
    void overHttp(ConnectionOptions options, int port) {
        try {
            StatusClient pages = options.pages(port);
            page(
                    pages,
                    "/readyz",
                    "readiness.json",
                    "readiness of the server",
                    body -> shown(AllowList.READINESS, body));
            page(
                    pages,
                    "/metrics",
                    "metrics.txt",
                    "the samples of /metrics",
                    body -> Metrics.shown(new String(body, UTF_8)));
            page(
                    pages,
                    "/v1/settings",
                    "settings.json",
                    "effective settings and their sources",
                    ServerReport::settings);
            page(
                    pages,
                    "/v1/store",
                    "store.json",
                    "the log and the heap by segment",
                    body -> shown(AllowList.LAYOUT, body));
        } catch (IOException | ParameterException down) {
            missing(
                    "server over HTTP",
                    "no server responds at --http-port, or not in time, or not in the form of a server",
                    down);
        }
    }

    private void page(StatusClient pages, String path, String name, String about, Showing showing) throws IOException {
        String part = "server/" + name;
        Page page = pages.get(path);
        if (page.status() != OK && (page.status() != NOT_READY || !path.equals("/readyz"))) {
            file.missing(part, path + " responded with the status " + page.status());
            return;
        }
        Object shown = showing.of(page.body());
        if (shown instanceof String text) {
            file.text(part, about, text);
        } else {
            file.json(part, about, shown);
        }
    }

    private static Object shown(AllowList list, byte[] body) throws IOException {
        return Objects.requireNonNullElse(list.values(SupportFile.parse(body)), List.of());
    }

    private static List<Setting> settings(byte[] body) throws IOException {
        List<Setting> rows = new ArrayList<>();
        for (JsonNode row : SupportFile.parse(body).path("settings")) {
            AllowList.setting(
                            row.path("name").asText(),
                            row.path("value").asText(),
                            row.path("source").asText())
                    .ifPresent(rows::add);
        }
        return rows;
    }

    private void missing(String what, String why, Exception problem) {
        file.missing(what, why);
        messages.accept(String.valueOf(problem.getMessage()));
    }

    /** Returns the status of the server; empty if the server did not report it. */
    ServerInfo info() {
        return info;
    }

    /**
     * Filters Prometheus text: keeps only samples in the form of the server's own samples, and drops the rest,
     * including comments.
     */
    static final class Metrics {
        private static final Pattern SAMPLE =
                Pattern.compile("((?:caravan|jvm|process|system)_[a-z0-9_]{1,80})(?:\\{([^{}]{0,400})})?"
                        + " ([-+0-9.eE]{1,30}|NaN|[+-]Inf)");
        private static final Pattern LABEL = Pattern.compile("([a-z]{1,20})=\"([^\"\\\\]{0,60})\"(?:,|$)");
        private static final Set<String> WORDS =
                Set.of("protocol", "operation", "outcome", "kind", "limit", "state", "area", "reason", "node");
        private static final Pattern WORD = Pattern.compile("[a-z][a-z_.-]{0,40}");
        private static final Pattern LIMIT = Pattern.compile("[0-9.eE+-]{1,20}|\\+Inf");
        /** Labels whose values are names from the JVM: garbage collectors, causes of collections, and pools. */
        private static final Set<String> JVM = Set.of("action", "cause", "gc", "id", "pool");

        private static final Pattern JVM_NAME = Pattern.compile("[A-Za-z0-9 .'()_-]{1,60}");

        private Metrics() {}

        /** Returns the lines that may be disclosed. */
        static String shown(String text) {
            StringBuilder shown = new StringBuilder();
            text.lines()
                    .filter(Metrics::isAllowed)
                    .forEach(line -> shown.append(line).append('\n'));
            return shown.toString();
        }

        private static boolean isAllowed(String line) {
            Matcher sample = SAMPLE.matcher(line);
            return sample.matches()
                    && (sample.group(2) == null || areAllowed(sample.group(2), line.startsWith("jvm_")));
        }

        private static boolean areAllowed(String labels, boolean jvm) {
            Matcher label = LABEL.matcher(labels);
            int end = 0;
            while (label.find() && label.start() == end) {
                if (!isAllowed(label.group(1), label.group(2), jvm)) {
                    return false;
                }
                end = label.end();
            }
            return end == labels.length();
        }

        private static boolean isAllowed(String name, String value, boolean jvm) {
            if (name.equals("le") || name.equals("quantile")) {
                return LIMIT.matcher(value).matches();
            }
            return WORDS.contains(name) && WORD.matcher(value).matches()
                    || jvm && JVM.contains(name) && JVM_NAME.matcher(value).matches();
        }
    }
}
