package io.caravan.bench.network;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports of the loopback address that were free a moment ago. */
public record Ports(int resp, int http) {
    public static final String HOST = "127.0.0.1";

    static Ports free() throws IOException {
        InetAddress host = InetAddress.getByName(HOST);
        try (ServerSocket resp = new ServerSocket(0, 1, host);
                ServerSocket http = new ServerSocket(0, 1, host)) {
            return new Ports(resp.getLocalPort(), http.getLocalPort());
        }
    }
}
