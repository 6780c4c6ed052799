package io.caravan.server.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The server's figures, in Prometheus's format. Recording a request costs a table lookup and a histogram update. Threads share it.
 */
public final class ServerMetrics implements AutoCloseable {
    /** What {@link #scrape()} gives. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final Duration[] BUCKETS = {
        Duration.ofNanos(250_000),
        Duration.ofMillis(1),
        Duration.ofNanos(2_500_000),
        Duration.ofMillis(5),
        Duration.ofMillis(10),
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(10)
    };

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
    private final Map<Request, Timer> requests = new ConcurrentHashMap<>();

    private record Request(String protocol, String operation, RequestOutcome outcome) {}

    /** Registers the JVM's figures. */
    public ServerMetrics() {
        garbageCollection.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** The registry for the figures of other parts. */
    public MeterRegistry registry() {
        return registry;
    }

    /**
     * Counts a request.
     *
     * @param operation one of a few fixed words, never one that a client chose
     */
    public void request(String protocol, String operation, RequestOutcome outcome, long nanos) {
        requests.computeIfAbsent(new Request(protocol, operation, outcome), this::timer)
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(Request request) {
        return Timer.builder("caravan.requests")
                .description("Requests, timed from when one has come in whole to its answer")
                .tag("protocol", request.protocol())
                .tag("operation", request.operation())
                .tag("outcome", request.outcome().label())
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    /** Registers a gauge of a protocol's open connections. */
    public void connections(String protocol, Supplier<Number> open) {
        Gauge.builder("caravan.connections", open)
                .description("Open connections")
                .tag("protocol", protocol)
                .register(registry);
    }

    /** All figures as text. */
    public String scrape() {
        return registry.scrape();
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
    }
}
