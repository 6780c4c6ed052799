package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.Map;

/**
 * A server whose replies contain a secret wherever one can occur: in messages, names, labels, settings, and command
 * words.
 */
final class MarkerServer implements AutoCloseable {
    private final ServerSocket resp;
    private final HttpServer http;
    private final Map<String, String> replies;

    MarkerServer(String marker) throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        replies = Map.of(
                "HELLO",
                "%1\r\n$5\r\nproto\r\n:3\r\n",
                "INFO",
                bulk("# Server\r\ncaravan_version:" + marker + "\r\nuptime_in_seconds:7\r\n# " + marker
                        + "\r\nappends:1\r\n# Persistence\r\nstore_state:ok\r\nstore_problem:document '" + marker
                        + "'\r\nstore:" + marker + "\r\ndurability:" + marker + "\r\n" + marker + ":1\r\nreads:"
                        + marker
                        + "\r\narchive_last_error:" + marker + "\r\n"),
                "PING",
                "+PONG\r\n",
                "COMMAND",
                "*1\r\n" + bulk("rpush"),
                "SLOWLOG",
                "*2\r\n" + slow("RPUSH", marker) + slow(marker, marker));
        resp = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::serve, "marker-server");
        thread.setDaemon(true);
        thread.start();
        http = HttpServer.create(any, 0);
        page("/healthz", 200, "{\"status\":\"alive\"}", marker);
        page(
                "/readyz",
                503,
                "{\"status\":503,\"code\":\"store_failed\",\"detail\":\"%s\",\"title\":\"%s\",\"%s\":\"ready\"}",
                marker);
        page(
                "/metrics",
                200,
                "# HELP caravan_documents %s\ncaravan_documents 3.0\ncaravan_x{operation=\"%s\"} 1\n"
                        + "caravan_x{name=\"%s\"} 1\ncaravan_x{operation=\"get\"} 1 %s\n%s 1\n",
                marker);
        page(
                "/v1/settings",
                200,
                "{\"settings\":[{\"name\":\"readers\",\"value\":\"4\",\"source\":\"default\"},"
                        + "{\"name\":\"readers\",\"value\":\"%s\",\"source\":\"%s\"},"
                        + "{\"name\":\"%s\",\"value\":\"4\",\"source\":\"default\"},"
                        + "{\"name\":\"s3-endpoint\",\"value\":\"https://user:%s@s3.example\",\"source\":\"default\"},"
                        + "{\"name\":\"s3-region\",\"value\":\"%s\",\"source\":\"default\"},"
                        + "{\"name\":\"auth-file\",\"value\":\"%s\",\"source\":\"default\"},"
                        + "{\"name\":\"password\",\"value\":\"%s\",\"source\":\"default\"}]}",
                marker);
        page("/v1/store", 200, "{\"log\":{\"replayBytes\":5,\"%s\":1,\"holes\":\"%s\"},\"heap\":[\"%s\"]}", marker);
        http.start();
    }

    private static String slow(String verb, String marker) {
        return "*6\r\n:1\r\n:1600000000\r\n:12345\r\n*3\r\n" + bulk(verb) + bulk(marker) + bulk(marker)
                + bulk("127.0.0.1:1") + bulk(marker);
    }

    private static String bulk(String text) {
        return "$" + text.length() + "\r\n" + text + "\r\n";
    }

    private void page(String path, int status, String body, String marker) {
        byte[] bytes = body.replace("%s", marker).getBytes(UTF_8);
        http.createContext(path, exchange -> {
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
    }

    private void serve() {
        while (!resp.isClosed()) {
            try (Socket client = resp.accept()) {
                reply(client);
            } catch (IOException closed) {
                // The client has closed the connection, or the test is over.
            }
        }
    }

    /** Reads requests of the form {@code *N} followed by the length and the text of each word, one per line. */
    private void reply(Socket client) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), UTF_8));
        OutputStream out = client.getOutputStream();
        for (String head = in.readLine(); head != null; head = in.readLine()) {
            String verb = "";
            int words = Integer.parseInt(head.substring(1));
            for (int i = 0; i < words; i++) {
                in.readLine();
                String word = in.readLine();
                verb = i == 0 ? word.toUpperCase(Locale.ROOT) : verb;
            }
            out.write(replies.get(verb).getBytes(UTF_8));
        }
    }

    String address() {
        return "127.0.0.1:" + resp.getLocalPort();
    }

    String httpPort() {
        return String.valueOf(http.getAddress().getPort());
    }

    @Override
    public void close() {
        http.stop(0);
        try {
            resp.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
