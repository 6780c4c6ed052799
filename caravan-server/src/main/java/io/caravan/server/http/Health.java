package io.caravan.server.http;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;

/** Tells whether the server is alive, and whether it can do what it is for. */
final class Health implements Endpoint {
    private final Readiness readiness;

    Health(Readiness readiness) {
        this.readiness = readiness;
    }

    static void alive(Exchange exchange) {
        exchange.answer(Answer.json(HttpResponseStatus.OK, Map.of("status", "alive")));
    }

    @Override
    public void handle(Exchange exchange) {
        Problem problem = readiness.problem();
        exchange.answer(
                problem == null ? Answer.json(HttpResponseStatus.OK, Map.of("status", "ready")) : problem.answer());
    }
}
