package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Readiness;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reports whether the server is alive, and whether it is ready to serve, without names and places. Clients with the
 * permission {@code ADMIN} also get the reason.
 */
public final class Health implements Endpoint {
    private final Readiness readiness;

    public Health(Readiness readiness) {
        this.readiness = readiness;
    }

    public static void alive(Exchange exchange) {
        exchange.answer(Answer.json(HttpResponseStatus.OK, Map.of("status", "alive")));
    }

    @Override
    public void handle(Exchange exchange) {
        Problem problem = readiness.problem(exchange.principal().may(Permission.ADMIN));
        exchange.answer(problem == null ? Answer.json(HttpResponseStatus.OK, ready()) : problem.answer());
    }

    private Map<String, Object> ready() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("status", "ready");
        ArchiveStatus archive = readiness.archive();
        if (archive != null) {
            fields.put("archive", brief(archive));
        }
        return fields;
    }

    /** Without names and places, because this needs no token; the log and the metrics have those. */
    private static Map<String, Object> brief(ArchiveStatus archive) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("state", archive.state().label());
        fields.put("lagSeconds", archive.oldestUnarchivedSeconds());
        fields.put("backlog", archive.backlog());
        fields.put("lastSuccess", archive.lastSuccessMillis() == 0 ? null : moment(archive.lastSuccessMillis()));
        LastError last = archive.lastError();
        fields.put("lastError", last == null ? null : Map.of("kind", last.kind(), "at", moment(last.atMillis())));
        return fields;
    }

    private static String moment(long millis) {
        return Instant.ofEpochMilli(millis).toString();
    }
}
