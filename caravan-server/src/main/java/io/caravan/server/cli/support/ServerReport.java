package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.io.FileStorage;
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
import java.util.function.Predicate;
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

    /** Creates a collector; {@code messages} receives error messages for the user, which the file must not contain. */
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
                    "no server responds at its HTTP port, or not in time, or not in the form of a server",
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
        messages.accept(
                problem instanceof IOException failed
                        ? FileStorage.problem(failed)
                        : String.valueOf(problem.getMessage()));
    }

    /** Returns the status of the server; empty if the server did not report it. */
    ServerInfo info() {
        return info;
    }

    /** Filters Prometheus text: keeps only samples in the form of the server's own samples, without names of spaces. */
    static final class Metrics {
        private static final String LABEL =
                "(?:(?:protocol|operation|outcome|kind|limit|state|area|reason|node)=\"[a-z][a-z_.-]{0,40}\""
                        + "|(?:le|quantile)=\"(?:[0-9.eE+-]{1,20}|\\+Inf)\")";
        /** A label, or one whose value is a name from the JVM: of a garbage collector, its cause, or a pool. */
        private static final String JVM_LABEL =
                "(?:" + LABEL + "|(?:action|cause|gc|id|pool)=\"[A-Za-z0-9 .'()_-]{1,60}\")";

        private static final Predicate<String> SAMPLE = AllowList.matching("(?:(?:caravan|process|system)_"
                + name(LABEL) + "|jvm_" + name(JVM_LABEL) + ") (?:[-+0-9.eE]{1,30}|NaN|[+-]Inf)");

        private Metrics() {}

        private static String name(String label) {
            return "[a-z0-9_]{1,80}(?:\\{(?:" + label + "(?:,|(?=})))" + "{0,16}})?";
        }

        /** Returns the lines that may be disclosed. */
        static String shown(String text) {
            return text.lines().filter(SAMPLE).map(line -> line + "\n").collect(Collectors.joining());
        }
    }
}
