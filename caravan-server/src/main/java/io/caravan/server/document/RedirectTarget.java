package io.caravan.server.document;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The server to which a document has moved: its addresses, for clients of either protocol. At least one address is
 * known.
 *
 * @param resp {@code HOST:PORT} for RESP, or null
 * @param http {@code http://HOST:PORT} or {@code https://HOST:PORT}, without a trailing slash, or null
 */
public record RedirectTarget(
        @Nullable String resp, @Nullable String http) {
    private static final int MAX_CHARS = 600;
    private static final String HOST_PORT = "([0-9A-Za-z._-]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}";
    private static final Pattern RESP = Pattern.compile(HOST_PORT);
    private static final Pattern HTTP = Pattern.compile("https?://" + HOST_PORT);

    /**
     * Parses a RESP address, an HTTP address, or both, separated by a space.
     *
     * @throws IllegalArgumentException when the text is anything else
     */
    public static RedirectTarget parse(String text) {
        String resp = null;
        String http = null;
        boolean known = text.length() <= MAX_CHARS;
        for (String address : known ? text.split(" ", -1) : new String[0]) {
            if (resp == null && RESP.matcher(address).matches()) {
                resp = address;
            } else if (http == null && HTTP.matcher(address).matches()) {
                http = address;
            } else {
                known = false;
            }
        }
        if (!known) {
            throw new IllegalArgumentException(
                    "the other server must be given as HOST:PORT for RESP, as http://HOST:PORT or https://HOST:PORT for"
                            + " HTTP, or as both, separated by a space");
        }
        return new RedirectTarget(resp, http);
    }

    /** Returns the RESP address, or the HTTP address if no RESP address is known. */
    public String forResp() {
        return resp == null ? text() : resp;
    }

    /** Returns the target as text in the format that {@link #parse} accepts. */
    public String text() {
        return resp == null ? String.valueOf(http) : http == null ? resp : resp + " " + http;
    }

    @Override
    public String toString() {
        return text().replace(" ", " (") + (resp != null && http != null ? ")" : "");
    }
}
