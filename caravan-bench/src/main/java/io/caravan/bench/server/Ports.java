package io.caravan.bench.server;

import io.caravan.testing.FreePorts;

/** The ports of a server on the loopback address. */
public record Ports(int resp, int http) {
    public static final String HOST = "127.0.0.1";

    static Ports free() {
        return new Ports(FreePorts.next(), FreePorts.next());
    }
}
