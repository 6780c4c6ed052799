package io.caravan.server.protocol.http.codec;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import org.jspecify.annotations.Nullable;

/**
 * A request that has come in whole.
 *
 * @param path the URL's path as it was sent, percent codes and all
 * @param body empty when there is none
 */
public record Request(HttpMethod method, String path, Query query, HttpHeaders headers, byte[] body) {

    /** The value of a header, or null when there is none. */
    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /** Whether a header says {@code true}; anything else it may say counts as its absence. */
    public boolean flag(String name) {
        return "true".equalsIgnoreCase(headers.get(name));
    }
}
