package io.caravan.server.cli.serve;

import io.caravan.StoreConfig;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.config.Quantities;
import io.caravan.server.net.NetworkLimits;
import io.caravan.server.protocol.resp.codec.RespLimits;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Options about how much clients may take, beside the length of a value. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LimitOptions {
    private static final long AUTO = 0;

    @Option(
            names = "--max-connections",
            paramLabel = "COUNT",
            defaultValue = "10000",
            description = "Connections at a time. One too many is told so, and closed.")
    private int maxConnections;

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
            description = "Within which a request that has begun must have come whole, or its connection is closed.")
    private Duration requestTimeout;

    @Option(
            names = "--idle-timeout",
            paramLabel = "TIME",
            defaultValue = "off",
            converter = Quantities.TimeOrOff.class,
            description = "After which a connection is closed on which nothing is under way, or off.")
    private Duration idleTimeout;

    /**
     * Limits for all listeners.
     *
     * @throws IllegalArgumentException when they do not fit the store's
     */
    NetworkLimits network(StoreConfig store) {
        long request = resp(store).maxRequestBytes();
        NetworkLimits defaults = NetworkLimits.defaults();
        long total = maxInFlightTotalBytes == AUTO ? defaults.totalInFlightBytes() : maxInFlightTotalBytes;
        Quantities.check(maxConnections > 0, "--max-connections must be 1 or more");
        Quantities.check(
                maxInFlightBytes >= request,
                "--max-in-flight must be " + request + " bytes or more, which is the greatest request");
        Quantities.check(total >= maxInFlightBytes, "--max-in-flight-total must not be below --max-in-flight");
        Quantities.check(!requestTimeout.isZero(), "--request-timeout must be above 0");
        return new NetworkLimits(maxConnections, maxInFlightBytes, total, requestTimeout, idleTimeout);
    }

    RespLimits resp(StoreConfig store) {
        Quantities.check(maxPipeline > 0, "--max-pipeline must be 1 or more");
        return ServerConfig.respLimits(store, maxPipeline);
    }
}
