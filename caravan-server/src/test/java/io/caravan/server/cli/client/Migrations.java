package io.caravan.server.cli.client;

import io.caravan.server.cli.client.ConnectionOptions.Login;
import io.caravan.server.config.HostPort;

/** Creates document clients for tests. */
public final class Migrations {
    private Migrations() {}

    /** Returns a client for the documents on a server that requires no password. */
    public static DocumentClient carrier(String address) {
        return DocumentClient.ofAllGroups(
                new Endpoint(HostPort.parse(address), false, new Login("--", null, null, null), null, 0, null, 60_000));
    }
}
