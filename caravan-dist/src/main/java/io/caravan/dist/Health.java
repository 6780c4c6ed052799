package io.caravan.dist;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The health check of the container image, which has no shell and no curl. Exits with 0 if the server in this container
 * responds to {@code GET /healthz}, and with 1 otherwise. The check needs no secret. It ignores the state of the store,
 * because restarting the container would not help if, for example, the disk is full.
 *
 * <p>The environment variable {@code CARAVAN_HTTP} sets the address. If the environment enables TLS, the server may
 * require client certificates, so the check connects to the port and sends no request.
 */
public final class Health {
    private static final int TIMEOUT_MILLIS = 5_000;

    private Health() {}

    public static void main(String[] args) {
        String address = System.getenv().getOrDefault("CARAVAN_HTTP", "127.0.0.1:4437");
        boolean tls = System.getenv("CARAVAN_TLS_CERT") != null;
        String problem = problem(address, tls);
        if (problem != null) {
            System.err.println("caravan: " + address + " " + problem);
            System.exit(1);
        }
    }

    private static @Nullable String problem(String address, boolean tls) {
        try (Socket socket = new Socket()) {
            socket.connect(reachable(address), TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            String status = tls ? "HTTP/1.1 200" : readStatus(socket);
            return status != null && status.startsWith("HTTP/1.1 200") ? null : "responds " + status;
        } catch (IOException | IllegalArgumentException unreachable) {
            return "does not respond: " + unreachable.getMessage();
        }
    }

    /** Returns an address at which this machine can reach a server that listens on the given address. */
    private static InetSocketAddress reachable(String address) {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, Math.max(colon, 0));
        InetSocketAddress listening = new InetSocketAddress(host, Integer.parseInt(address.substring(colon + 1)));
        return listening.getAddress() != null && listening.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress("127.0.0.1", listening.getPort())
                : listening;
    }

    private static @Nullable String readStatus(Socket socket) throws IOException {
        String request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII)).readLine();
    }
}
