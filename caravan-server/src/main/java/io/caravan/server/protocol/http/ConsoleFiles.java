package io.caravan.server.protocol.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Serves the files of the console, which require no token because they contain no data. The pages request their data
 * from the other endpoints, with the token that the user enters. The content security policy prevents browsers from
 * loading anything from other servers and from running other scripts.
 */
public final class ConsoleFiles {
    public static final String PREFIX = "/console/";

    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    static final List<String> NAMES = List.of(
            "index.html",
            "icon.svg",
            "css/console.css",
            "js/app.js",
            "js/api.js",
            "js/charts.js",
            "js/dialogs.js",
            "js/format.js",
            "js/pages/archive.js",
            "js/pages/clients.js",
            "js/pages/cluster.js",
            "js/pages/documents.js",
            "js/pages/document.js",
            "js/pages/live.js",
            "js/pages/settings.js",
            "js/pages/store.js",
            "js/values.js",
            "vendor/lit-html/lit-html.js",
            "vendor/lit-html/LICENSE",
            "vendor/uplot/uPlot.esm.js",
            "vendor/uplot/uPlot.min.css",
            "vendor/uplot/LICENSE");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    private final Map<String, File> files = new HashMap<>();

    private record File(String type, byte[] bytes, String etag) {}

    public ConsoleFiles() {
        for (String name : NAMES) {
            byte[] bytes = read(name);
            String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain; charset=utf-8");
            files.put(name, new File(type, bytes, '"' + hash(bytes).substring(0, 32) + '"'));
        }
    }

    private static byte[] read(String name) {
        try (InputStream in = ConsoleFiles.class.getResourceAsStream("console/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read the console's file " + name, problem);
        }
    }

    static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JVM has SHA-256", impossible);
        }
    }

    /**
     * Redirects a browser to the console. The redirect is relative, so that it works through a proxy that adds a
     * prefix.
     */
    public static void redirect(HttpExchange exchange) {
        exchange.respond(new Response(302).uncached().header("Location", "console/"));
    }

    public void file(HttpExchange exchange) {
        String name = exchange.request().path().substring(PREFIX.length());
        File file = files.get(name.isEmpty() ? "index.html" : name);
        if (file == null) {
            throw new Problem(404, "unknown_path", "the console has no such file; it begins at " + PREFIX);
        }
        boolean known = exchange.request().hasTag(file.etag());
        Response response = new Response(known ? 304 : 200)
                .header("ETag", file.etag())
                .header("Cache-Control", "no-cache")
                .header("Content-Security-Policy", POLICY)
                .header("Referrer-Policy", "no-referrer")
                .header("X-Frame-Options", "DENY");
        exchange.respond(known ? response : response.body(file.type(), file.bytes()));
    }
}
