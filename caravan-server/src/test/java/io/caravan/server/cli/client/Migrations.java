package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.io.IOException;

/** Document clients for tests. */
public final class Migrations {
    private Migrations() {}

    /** Returns access to the documents of a server without a password. */
    public static DocumentClient carrier(String address) throws IOException {
        return new RespDocumentClient(() -> ServerConnection.open(
                new ServerConnection.Endpoint(HostPort.parse(address), false, null, null, 0, null, 60_000)));
    }
}
