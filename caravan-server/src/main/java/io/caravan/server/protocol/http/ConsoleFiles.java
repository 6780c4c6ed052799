package io.caravan.server.protocol.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Serves the files of the console, which require no token because they contain no data. The pages request their data
 * from the other endpoints, with the token that the user enters. The content security policy prevents browsers from
 * loading anything from other servers and from running other scripts.
 */
final class ConsoleFiles {
    static final String PREFIX = "/console/";

    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    /** Matches the names of the files. The names of directories contain no dots. */
    private static final Pattern NAME = Pattern.compile("([a-z-]+/){0,4}(LICENSE|[A-Za-z.-]+\\.(html|js|css|svg))");

    private final Map<String, File> files = new ConcurrentHashMap<>();

    private record File(String type, byte[] bytes, String etag) {}

    private static @Nullable File read(String name) {
        boolean valid = NAME.matcher(name).matches();
        try (InputStream in = valid ? ConsoleFiles.class.getResourceAsStream("console/" + name) : null) {
            if (in == null) {
                return null;
            }
            byte[] bytes = in.readAllBytes();
            String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain; charset=utf-8");
            return new File(type, bytes, '"' + UUID.nameUUIDFromBytes(bytes).toString() + '"');
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read the console's file " + name, problem);
        }
    }

    /** Redirects a browser to the console, relatively, so that it works through a proxy that adds a prefix. */
    static Response redirect(HttpExchange exchange) {
        return new Response(302).uncached().header("Location", "console/");
    }

    Response file(HttpExchange exchange) {
        String path = exchange.request.path.substring(PREFIX.length());
        String name = path.isEmpty() ? "index.html" : path;
        // Each file is read only once, so this does not wait for a reading thread.
        File file = files.computeIfAbsent(name, ConsoleFiles::read);
        if (file == null) {
            throw new Problem(404, "unknown_path", "the console has no such file; it begins at " + PREFIX);
        }
        boolean known = exchange.request.hasTag(file.etag());
        Response response = new Response(known ? 304 : 200)
                .header("ETag", file.etag())
                .header("Cache-Control", "no-cache")
                .header("Content-Security-Policy", POLICY)
                .header("Referrer-Policy", "no-referrer")
                .header("X-Frame-Options", "DENY");
        return known ? response : response.body(file.type(), file.bytes());
    }
}
