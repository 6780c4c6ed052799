package io.caravan.server.protocol.http.endpoint;

import io.caravan.BackupReport;
import io.caravan.server.backup.BackupInfo;
import io.caravan.server.backup.Backups;
import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.http.codec.Response;
import io.caravan.server.protocol.http.connection.HttpExchange;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The endpoints for backups. A backup may take longer than the minute for which proxies wait for a response, so one
 * request starts a backup, and later requests query its state.
 */
public final class BackupEndpoints {
    /** The prefix of the URL paths of backups. */
    public static final String PREFIX = "/v1/backups/";

    private final Endpoints endpoints;

    public BackupEndpoints(Endpoints endpoints) {
        this.endpoints = endpoints;
    }

    public void list(HttpExchange exchange) {
        respond(exchange, backups -> {
            Map<String, Object> listed = new LinkedHashMap<>();
            listed.put(
                    "backups",
                    backups.list().stream().map(BackupEndpoints::described).toList());
            return Response.json(200, listed);
        });
    }

    public void find(HttpExchange exchange) {
        respond(exchange, backups -> Response.json(200, described(backups.find(name(exchange)))));
    }

    public void start(HttpExchange exchange) {
        respond(exchange, backups -> {
            String name = name(exchange);
            backups.start(name, new Unwatched());
            return Response.json(202, described(backups.find(name))).header("Location", "./" + name);
        });
    }

    /** Runs the request and responds on a reading thread, because all requests about backups access files. */
    private void respond(HttpExchange exchange, Function<Backups, Response> response) {
        Backups backups = endpoints.readiness().served().backups();
        endpoints.read(exchange, () -> exchange.respond(response.apply(backups)));
    }

    private static String name(HttpExchange exchange) {
        return exchange.route().rest(exchange.request().path());
    }

    /** Ignores the outcome of a backup, because it is logged and clients can query it. */
    private static final class Unwatched implements Outcome<Backups.Made> {
        @Override
        public void success(Backups.Made made) {}

        @Override
        public void failure(RuntimeException problem) {}
    }

    private static Map<String, Object> described(BackupInfo backup) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", backup.name());
        fields.put("state", backup.state().label());
        fields.put("path", backup.path().toString());
        fields.put("at", Instant.ofEpochMilli(backup.atMillis()).toString());
        fields.put("bytes", backup.bytes());
        BackupReport report = backup.report();
        switch (backup.state()) {
            case RUNNING -> fields.put("totalBytes", backup.totalBytes());
            case FAILED -> fields.put("problem", backup.problem());
            case COMPLETE, ABANDONED -> {
                if (report != null) {
                    fields.put("files", report.files());
                    fields.put("lsn", report.lsn());
                }
            }
        }
        return fields;
    }
}
