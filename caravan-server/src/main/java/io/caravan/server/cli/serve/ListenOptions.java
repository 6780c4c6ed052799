package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.server.app.ServerConfig;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.Quantities;
import io.caravan.server.net.NetworkConfig;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.net.Tls;
import io.caravan.server.net.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for listening: addresses, transport, and threads. */
final class ListenOptions {
    @Option(
            names = "--resp",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:6380",
            converter = HostPort.Converter.class,
            description = "RESP listen address. With port 0, the server chooses a free port.")
    private HostPort resp;

    @Option(
            names = "--http",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:4437",
            converter = HostPort.Converter.class,
            description = "HTTP listen address. With port 0, the server chooses a free port.")
    private HostPort http;

    @Option(
            names = "--insecure",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "false",
            paramLabel = "BOOL",
            description = "Allow addresses that other machines can reach even if authentication is disabled.")
    private boolean insecure;

    @Option(
            names = "--transport",
            paramLabel = "KIND",
            defaultValue = "auto",
            description = "Socket transport: nio, epoll, io_uring, or auto, which is epoll if the machine supports"
                    + " it, else nio.")
    private String transport;

    @Option(
            names = "--loops",
            paramLabel = "COUNT",
            defaultValue = "auto",
            converter = Quantities.Threads.class,
            description = "Number of event loops that serve connections, up to 1024; auto is one for every two"
                    + " processors.")
    private int loops;

    @Option(
            names = "--readers",
            paramLabel = "COUNT",
            defaultValue = "auto",
            converter = Quantities.Threads.class,
            description = "Number of threads that read from the store, up to 1024; auto is two for each processor,"
                    + " and at least 4.")
    private int readers;

    InetSocketAddress resp() throws IOException {
        return resp.resolve();
    }

    InetSocketAddress http() throws IOException {
        return http.resolve();
    }

    /** Rejects an address that other machines can reach without authentication. */
    void checkReach(String option, InetSocketAddress address, boolean authenticated) {
        check(
                insecure || authenticated || address.getAddress().isLoopbackAddress(),
                option + " " + HostPort.format(address)
                        + " can be reached from other machines, and no password is required; use a loopback address, or"
                        + " --auth-file, or --insecure if the network is trusted");
    }

    /** Rejects a peer address that other machines can reach, if nodes do not authenticate each other. */
    void checkPeers(InetSocketAddress address, boolean proved) {
        check(
                insecure || proved || address.getAddress().isLoopbackAddress(),
                "the peer address " + HostPort.format(address)
                        + " can be reached from other machines, and nodes do not authenticate each other; use"
                        + " --cluster-cert, --cluster-key and --cluster-ca, or --insecure if the network is trusted");
    }

    NetworkConfig network(NetworkLimits limits, @Nullable Tls tls) {
        return new NetworkConfig(transport(), loops > 0 ? loops : NetworkConfig.defaultLoops(), limits, tls);
    }

    int readers() {
        return readers > 0 ? readers : ServerConfig.defaultReaders();
    }

    /** Returns the transport. Not a picocli converter: probing logs, and the log format is unknown during parsing. */
    private Transport transport() {
        if (transport.equalsIgnoreCase("auto")) {
            return Transport.best();
        }
        for (Transport candidate : Transport.values()) {
            if (candidate.label().equalsIgnoreCase(transport)) {
                Throwable problem = candidate.unavailable();
                check(problem == null, "--transport " + transport + " is not available on this machine: " + problem);
                return candidate;
            }
        }
        throw new IllegalArgumentException("--transport must be auto, nio, epoll or io_uring, was '" + transport + "'");
    }
}
