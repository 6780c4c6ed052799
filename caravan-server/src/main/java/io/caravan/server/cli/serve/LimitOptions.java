package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.StoreConfig;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.config.Quantities;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.protocol.resp.codec.RespLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the limits of clients, except the maximum length of a value. */
final class LimitOptions {
    private static final Duration LEAST_HEARTBEAT = Duration.ofSeconds(1);
    private static final long AUTO = 0;
    private static final long MIN_ANSWERS_BYTES = 1024 * 1024;

    @Option(
            names = "--max-connections",
            paramLabel = "COUNT",
            defaultValue = "10000",
            description = "Connections at a time. One more is told so, and closed.")
    private int maxConnections;

    @Option(
            names = "--max-connections-per-address",
            paramLabel = "COUNT",
            defaultValue = "auto",
            converter = Quantities.Connections.class,
            description =
                    "How many of them one address may have (an IPv6 network of 64 bits counts as one); auto is half."
                            + " Connections from this machine are not counted.")
    private int maxConnectionsPerAddress;

    @Option(
            names = "--max-in-flight",
            paramLabel = "SIZE",
            defaultValue = "16MiB",
            converter = Quantities.Bytes.class,
            description = "Bytes of requests that wait for their answers, for each connection; then the server reads no"
                    + " more from it until they are answered.")
    private long maxInFlightBytes;

    @Option(
            names = "--max-in-flight-total",
            paramLabel = "SIZE",
            defaultValue = "auto",
            converter = Quantities.BytesOrAuto.class,
            description = "The same for all connections together; auto is a quarter of Java's memory, and at least"
                    + " 64MiB.")
    private long maxInFlightTotalBytes;

    @Option(
            names = "--max-replies-total",
            paramLabel = "SIZE",
            defaultValue = "auto",
            converter = Quantities.BytesOrAuto.class,
            description =
                    "Bytes of answers that clients have not taken, for all connections together. Then reads wait, and"
                            + " clients that take nothing for 5 s are closed, those with the most first. auto is a quarter of"
                            + " Java's memory, and at least 64MiB.")
    private long maxAnswersTotalBytes;

    @Option(
            names = "--max-pipeline",
            paramLabel = "COUNT",
            defaultValue = "1024",
            description = "RESP requests that wait for their answers, for each connection. Over HTTP one is taken at a"
                    + " time.")
    private int maxPipeline;

    @Option(
            names = "--request-timeout",
            paramLabel = "TIME",
            defaultValue = "30s",
            converter = Quantities.Time.class,
            description = "How long a request may take to come whole, or its connection is closed. So long may a new"
                    + " connection take, too, for its first request over HTTP, and over RESP for authentication where that"
                    + " is required.")
    private Duration requestTimeout;

    @Option(
            names = "--idle-timeout",
            paramLabel = "TIME",
            defaultValue = "auto",
            converter = Quantities.TimeOffOrAuto.class,
            description =
                    "How long a connection may be idle before it is closed, or off; auto is 2m for HTTP, and off for"
                            + " RESP.")
    private @Nullable Duration idleTimeout;

    @Option(
            names = "--event-stream-heartbeat",
            paramLabel = "TIME",
            defaultValue = "15s",
            converter = Quantities.TimeOrOff.class,
            description =
                    "How often an event stream over HTTP sends a comment, so that proxies do not end it while there"
                            + " are no events; at least 1s, or off.")
    private Duration heartbeat;

    /**
     * Returns the time between heartbeat comments in event streams, or zero for none.
     *
     * @throws IllegalArgumentException if it is too short
     */
    Duration heartbeat() {
        check(
                heartbeat.isZero() || heartbeat.compareTo(LEAST_HEARTBEAT) >= 0,
                "--event-stream-heartbeat must be 1s or more, or off");
        return heartbeat;
    }

    /**
     * Returns the limits for all listeners.
     *
     * @throws IllegalArgumentException if they are incompatible with the store's limits
     */
    NetworkLimits network(StoreConfig store) {
        long request = resp(store).maxRequestBytes();
        NetworkLimits defaults = NetworkLimits.defaults();
        long total = maxInFlightTotalBytes == AUTO ? defaults.totalInFlightBytes() : maxInFlightTotalBytes;
        long answers = maxAnswersTotalBytes == AUTO ? defaults.totalAnswerBytes() : maxAnswersTotalBytes;
        check(maxConnections > 0, "--max-connections must be 1 or more");
        check(answers >= MIN_ANSWERS_BYTES, "--max-replies-total must be 1MiB or more");
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
                answers,
                requestTimeout,
                defaults.stallTimeout(),
                idleTimeout);
    }

    RespLimits resp(StoreConfig store) {
        check(maxPipeline > 0, "--max-pipeline must be 1 or more");
        return ServerConfig.respLimits(store, maxPipeline);
    }
}
