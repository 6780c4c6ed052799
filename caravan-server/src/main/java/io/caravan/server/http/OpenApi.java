package io.caravan.server.http;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The description of the interface, for programs. */
final class OpenApi implements Endpoint {
    private static final String RESOURCE = "openapi.json";

    private final byte[] document;

    OpenApi() {
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
