package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.HttpService;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** The server's statistics, for people and for Prometheus, and the description of its HTTP interface. */
public final class ServerPages {
    private static final String OPEN_API = "openapi.json";

    private final ReadParts parts;
    private final ServerMetrics metrics;
    private final ChannelGroup connections;
    private final byte[] openApi;

    public ServerPages(ReadParts parts, ServerMetrics metrics, ChannelGroup connections) {
        this.parts = parts;
        this.metrics = metrics;
        this.connections = connections;
        try (InputStream in = ServerPages.class.getResourceAsStream(OPEN_API)) {
            openApi = HttpService.required(in).readAllBytes();
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read " + OPEN_API, problem);
        }
    }

    public void stats(Exchange exchange) {
        DocumentService documents = parts.readiness().documents();
        parts.read(exchange, () -> exchange.answer(Answer.json(HttpResponseStatus.OK, stats(documents))));
    }

    private Map<String, Object> stats(DocumentService documents) {
        Map<String, Object> stats = new LinkedHashMap<>();
        stats.put("documents", documents.documents());
        stats.put("tailedDocuments", documents.tailedDocuments());
        stats.put("httpConnections", connections.size());
        stats.put("store", documents.stats());
        stats.put("archive", parts.readiness().archive());
        return stats;
    }

    public void metrics(Exchange exchange) {
        parts.read(
                exchange,
                () -> exchange.answer(Answer.of(HttpResponseStatus.OK)
                        .uncached()
                        .body(ServerMetrics.CONTENT_TYPE, metrics.scrape().getBytes(StandardCharsets.UTF_8))));
    }

    public void openApi(Exchange exchange) {
        exchange.answer(Answer.of(HttpResponseStatus.OK)
                .header("Cache-Control", "no-cache")
                .body(Answer.JSON, openApi));
    }
}
