package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Json;
import io.caravan.server.protocol.http.connection.Endpoint;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.HttpService;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The description of the interface, for programs. */
public final class OpenApi implements Endpoint {
    private static final String RESOURCE = "openapi.json";

    private final byte[] document;

    public OpenApi() {
        try (InputStream in = OpenApi.class.getResourceAsStream(RESOURCE)) {
            document = HttpService.required(in).readAllBytes();
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read " + RESOURCE, problem);
        }
    }

    @Override
    public void handle(Exchange exchange) {
        exchange.answer(Answer.of(HttpResponseStatus.OK)
                .header("Cache-Control", "no-cache")
                .body(Json.CONTENT_TYPE, document));
    }
}
