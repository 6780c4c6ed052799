package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.ReadParts;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;

/** The server's figures for Prometheus. */
public final class Metrics implements Endpoint {
    private final ReadParts parts;
    private final ServerMetrics metrics;

    public Metrics(ReadParts parts, ServerMetrics metrics) {
        this.parts = parts;
        this.metrics = metrics;
    }

    @Override
    public void handle(Exchange exchange) {
        parts.read(
                exchange,
                () -> exchange.answer(Answer.of(HttpResponseStatus.OK)
                        .header("Cache-Control", "no-store")
                        .body(ServerMetrics.CONTENT_TYPE, metrics.scrape().getBytes(StandardCharsets.UTF_8))));
    }
}
