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
import io.caravan.server.cli.common.IoSupplier;
import io.caravan.server.config.Setting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParameterException;

/** Collects data from a running server, as far as it responds and permissions allow. */
final class ServerReport {
    private static final int OK = 200;
    private static final int NOT_READY = 503;

    private static final String LABEL =
            "(?:(?:protocol|operation|outcome|kind|limit|state|area|reason|node)=\"[a-z][a-z_.-]{0,40}\""
                    + "|(?:le|quantile)=\"(?:[0-9.eE+-]{1,20}|\\+Inf)\")";
    /** A label, or one whose value is a name from the JVM: of a garbage collector, its cause, or a pool. */
    private static final String JVM_LABEL =
            "(?:" + LABEL + "|(?:action|cause|gc|id|pool)=\"[A-Za-z0-9 .'()_-]{1,60}\")";
    /** A sample of {@code /metrics} in the form of the server's own samples, without names of spaces. */
    private static final Predicate<String> SAMPLE = AllowList.matching("(?:(?:caravan|process|system)_"
            + sampleName(LABEL) + "|jvm_" + sampleName(JVM_LABEL) + ") (?:[-+0-9.eE]{1,30}|NaN|[+-]Inf)");

    private final SupportFile file;
    private final Consumer<String> messages;
    private ServerInfo info = new ServerInfo(Map.of());

    private record SlowCommand(long atSeconds, long micros, String command, int words) {}

    private interface Showing {
        Object of(String body) throws IOException;
    }

    /** Creates a collector; {@code messages} receives error messages for the user, which the file must not contain. */
    ServerReport(SupportFile file, Consumer<String> messages) {
        this.file = file;
        this.messages = messages;
    }

    private static String sampleName(String label) {
        return "[a-z0-9_]{1,80}(?:\\{(?:" + label + "(?:,|(?=})))" + "{0,16}})?";
    }

    void overResp(IoSupplier<ServerConnection> server) {
        try (ServerConnection connection = server.get()) {
            info = connection.info();
            file.json(
                    "server/info.json",
                    "status of the server, from INFO",
                    AllowList.shown(SupportFile.JSON.valueToTree(info.sections())));
            if (info.text("store_state").isEmpty()) {
                file.missing("most of server/info.json", "the user has no permission admin");
            }
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

    /** Returns the slow log. Discloses the first word of an entry only if it is a command of the server. */
    private static List<SlowCommand> slowLog(ServerConnection connection) {
        Set<String> commands = list(connection.call("COMMAND", "LIST")).stream()
                .map(ServerReport::lower)
                .collect(Collectors.toSet());
        List<SlowCommand> entries = new ArrayList<>();
        for (Object each : list(connection.call("SLOWLOG", "GET", "-1"))) {
            List<?> fields = list(each);
            List<?> words = fields.size() > 3 ? list(fields.get(3)) : List.of();
            if (!words.isEmpty()
                    && fields.get(1) instanceof Long startedSeconds
                    && fields.get(2) instanceof Long micros) {
                String verb = lower(words.get(0));
                String shown = commands.contains(verb) ? verb : AllowList.HIDDEN;
                entries.add(new SlowCommand(startedSeconds, micros, shown, words.size()));
            }
        }
        return entries;
    }

    private static List<?> list(@Nullable Object reply) {
        return reply instanceof List<?> list ? list : List.of();
    }

    private static String lower(@Nullable Object word) {
        return word instanceof byte[] bytes ? new String(bytes, UTF_8).toLowerCase(Locale.ROOT) : "";
    }

    void overHttp(ConnectionOptions options, int port) {
        try {
            StatusClient pages = options.pages(port);
            page(pages, "/readyz", "readiness.json", "readiness of the server", ServerReport::shown);
            page(pages, "/metrics", "metrics.txt", "the samples of /metrics", ServerReport::metrics);
            page(
                    pages,
                    "/v1/settings",
                    "settings.json",
                    "effective settings and their sources",
                    ServerReport::settings);
            page(pages, "/v1/store", "store.json", "the log and the heap by segment", ServerReport::shown);
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
        Object shown = showing.of(new String(page.body(), UTF_8));
        if (shown instanceof String text) {
            file.text(part, about, text);
        } else {
            file.json(part, about, shown);
        }
    }

    private static JsonNode shown(String json) throws IOException {
        return AllowList.shown(SupportFile.parse(json));
    }

    /** Returns the samples in Prometheus text that may be disclosed. */
    static String metrics(String text) {
        return text.lines().filter(SAMPLE).map(line -> line + "\n").collect(Collectors.joining());
    }

    private static List<Setting> settings(String json) throws IOException {
        List<Setting> rows = new ArrayList<>();
        for (JsonNode row : SupportFile.parse(json).path("settings")) {
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

    ServerInfo info() {
        return info;
    }
}
