package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.LinkedHashMap;
import java.util.Map;

/** Ends a request with an error response: RFC 9457's {@code application/problem+json}. */
public final class Problem extends RuntimeException {
    public static final String CONTENT_TYPE = "application/problem+json";

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus status;
    private final String code;
    private final transient Map<String, String> headers = new LinkedHashMap<>();

    /**
     * Makes a problem without headers of its own.
     *
     * @param code a word for programs; docs/PROTOCOLS.md lists them
     * @param detail a sentence for people: what happened, and what to do
     */
    public Problem(HttpResponseStatus status, String code, String detail) {
        super(detail);
        this.status = status;
        this.code = code;
    }

    public static Problem badRequest(String code, String detail) {
        return new Problem(HttpResponseStatus.BAD_REQUEST, code, detail);
    }

    /** Adds a header to the response. */
    public Problem with(String header, String value) {
        headers.put(header, value);
        return this;
    }

    public HttpResponseStatus status() {
        return status;
    }

    public String code() {
        return code;
    }

    public String detail() {
        return String.valueOf(getMessage());
    }

    public Answer answer() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("title", status.reasonPhrase());
        body.put("status", status.code());
        body.put("code", code);
        body.put("detail", detail());
        Answer answer = Answer.json(status, body).header("Content-Type", CONTENT_TYPE);
        headers.forEach(answer::header);
        return answer;
    }

    /** A refusal is an answer: nobody looks at where it was made. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
