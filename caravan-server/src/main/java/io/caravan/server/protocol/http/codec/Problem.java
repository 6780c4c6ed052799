package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Why a request was not done: what every error response tells, as RFC 9457's {@code application/problem+json}.
 *
 * @param code a word for programs; those in use are in docs/PROTOCOLS.md
 * @param detail a sentence for people: what happened, and what to do
 * @param headers what else to tell
 */
public record Problem(HttpResponseStatus status, String code, String detail, Map<String, String> headers) {
    public static final String CONTENT_TYPE = "application/problem+json";

    public Problem(HttpResponseStatus status, String code, String detail) {
        this(status, code, detail, Map.of());
    }

    /** The same with one more header. */
    public Problem with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new Problem(status, code, detail, more);
    }

    public Answer answer() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("title", status.reasonPhrase());
        body.put("status", status.code());
        body.put("code", code);
        body.put("detail", detail);
        Answer answer = Answer.of(status).header("Cache-Control", "no-store").body(CONTENT_TYPE, Json.bytes(body));
        headers.forEach(answer::header);
        return answer;
    }
}
