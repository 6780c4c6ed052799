package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.read.ReadParts;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashMap;
import java.util.Map;

/** The server's figures for people. */
public final class Stats implements Endpoint {
    private final ReadParts parts;
    private final ChannelGroup connections;

    public Stats(ReadParts parts, ChannelGroup connections) {
        this.parts = parts;
        this.connections = connections;
    }

    @Override
    public void handle(Exchange exchange) {
        DocumentService documents = parts.readiness().documents();
        parts.read(exchange, () -> exchange.answer(Answer.json(HttpResponseStatus.OK, figures(documents))));
    }

    private Map<String, Object> figures(DocumentService documents) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("documents", documents.documents());
        figures.put("tailedDocuments", documents.tailedDocuments());
        figures.put("httpConnections", connections.size());
        figures.put("store", documents.stats());
        figures.put("archive", parts.readiness().archive());
        return figures;
    }
}
