package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The address of a Redis server, with an optional user: {@code redis://[user:password@]HOST:PORT[/DB]}, or {@code
 * rediss://} for TLS. The text form of this object omits the password.
 *
 * @param user the user, or null for Redis's default user
 * @param password the password, or null if none is given
 */
record RedisAddress(
        HostPort address,
        boolean tls,
        @Nullable String user,
        @Nullable String password,
        int database) {
    private static final String FORM = "redis://[USER:PASSWORD@]HOST:PORT[/DB], or rediss:// for TLS";
    private static final int DEFAULT_PORT = 6379;

    /**
     * Parses an address.
     *
     * @throws IllegalArgumentException if the text is invalid; the message does not quote it
     */
    static RedisAddress parse(String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException unfit) {
            // Omits the cause, which quotes the password.
            throw new IllegalArgumentException("is not " + FORM);
        }
        boolean tls = "rediss".equals(uri.getScheme());
        String path = uri.getRawPath();
        if ((!tls && !"redis".equals(uri.getScheme()))
                || uri.getHost() == null
                || !path.matches("/?|/[0-9]{1,6}")
                || uri.getRawQuery() != null
                || uri.getRawFragment() != null) {
            throw new IllegalArgumentException("is not " + FORM);
        }
        String info = uri.getRawUserInfo();
        int colon = info == null ? -1 : info.indexOf(':');
        String port = ":" + (uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort());
        return new RedisAddress(
                HostPort.parse(uri.getHost() + port),
                tls,
                info == null ? null : part(colon < 0 ? info : info.substring(0, colon)),
                info == null || colon < 0 ? null : part(info.substring(colon + 1)),
                path.length() > 1 ? Integer.parseInt(path.substring(1)) : 0);
    }

    private static @Nullable String part(String encoded) {
        // A plus is literal here, not a space.
        return encoded.isEmpty() ? null : URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    RedisAddress withPassword(String given) {
        return new RedisAddress(address, tls, user, given, database);
    }

    @Override
    public String toString() {
        return "Redis at " + address;
    }
}
