package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.StoreConfig;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.config.Quantities;
import io.caravan.server.net.NetworkLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the limits on clients, except the maximum length of a value. */
final class LimitOptions {
    private static final long AUTO = 0;
    private static final long MIN_REPLIES_BYTES = 1024 * 1024;

    @Option(
            names = "--max-connections",
            paramLabel = "COUNT",
            defaultValue = "10000",
            description = "Maximum number of connections. Excess connections get an error and are closed.")
    private int maxConnections;

    @Option(
            names = "--max-connections-per-address",
            paramLabel = "COUNT",
            defaultValue = "auto",
            converter = Quantities.Connections.class,
            description = "Maximum number of connections from one address or IPv6 /64 network; auto is half of"
                    + " --max-connections. Connections from this machine are not counted.")
    private int maxConnectionsPerAddress;

    @Option(
            names = "--max-in-flight",
            paramLabel = "SIZE",
            defaultValue = "16MiB",
            converter = Quantities.Bytes.class,
            description = "Maximum bytes of requests that wait for their replies, for each connection. Beyond this,"
                    + " the server stops reading from the connection.")
    private long maxInFlightBytes;

    @Option(
            names = "--max-in-flight-total",
            paramLabel = "SIZE",
            defaultValue = "auto",
            converter = Quantities.BytesOrAuto.class,
            description = "Maximum bytes of requests that wait for their replies, for all connections together; auto"
                    + " is a quarter of the JVM heap, and at least 64MiB.")
    private long maxInFlightTotalBytes;

    @Option(
            names = "--max-replies-total",
            paramLabel = "SIZE",
            defaultValue = "auto",
            converter = Quantities.BytesOrAuto.class,
            description = "Maximum bytes of replies that clients have not received, for all connections together."
                    + " Beyond this, reads wait, and clients that receive nothing for 5 s are disconnected, those"
                    + " with the most bytes first. auto is a quarter of the JVM heap, and at least 64MiB.")
    private long maxRepliesTotalBytes;

    @Option(
            names = "--request-timeout",
            paramLabel = "TIME",
            defaultValue = "30s",
            converter = Quantities.Time.class,
            description = "Maximum time for a request to arrive completely, and for a new connection to send its"
                    + " first HTTP request or to authenticate over RESP.")
    private Duration requestTimeout;

    @Option(
            names = "--idle-timeout",
            paramLabel = "TIME",
            defaultValue = "auto",
            converter = Quantities.TimeOffOrAuto.class,
            description = "Maximum idle time of a connection, or off; auto is 2m for HTTP, and off for RESP.")
    private @Nullable Duration idleTimeout;

    @Option(
            names = "--event-stream-heartbeat",
            paramLabel = "TIME",
            defaultValue = "15s",
            converter = Quantities.PeriodOrOff.class,
            description = "Time between the comments that keep proxies from closing an idle HTTP event stream, at"
                    + " least 1s, or off.")
    private Duration heartbeat;

    Duration heartbeat() {
        return heartbeat;
    }

    NetworkLimits network(StoreConfig store) {
        long request = ServerConfig.respLimits(store).maxRequestBytes();
        NetworkLimits defaults = NetworkLimits.defaults();
        long total = maxInFlightTotalBytes == AUTO ? defaults.totalInFlightBytes() : maxInFlightTotalBytes;
        long replies = maxRepliesTotalBytes == AUTO ? defaults.totalReplyBytes() : maxRepliesTotalBytes;
        check(maxConnections > 0, "--max-connections must be 1 or more");
        check(replies >= MIN_REPLIES_BYTES, "--max-replies-total must be 1MiB or more");
        check(
                maxInFlightBytes >= request,
                "--max-in-flight must be " + request + " bytes or more, which is the greatest request");
        check(total >= maxInFlightBytes, "--max-in-flight-total must not be below --max-in-flight");
        check(!requestTimeout.isZero(), "--request-timeout must be above 0");
        return new NetworkLimits(
                maxConnections,
                maxConnectionsPerAddress == AUTO ? NetworkLimits.shareOf(maxConnections) : maxConnectionsPerAddress,
                maxInFlightBytes,
                total,
                replies,
                requestTimeout,
                defaults.stallTimeout(),
                idleTimeout);
    }
}
