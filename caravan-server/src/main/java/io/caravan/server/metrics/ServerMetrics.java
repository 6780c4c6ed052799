package io.caravan.server.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * The server's metrics, in the Prometheus format. Recording a request costs a table lookup and a histogram update.
 * Thread-safe.
 */
public final class ServerMetrics implements AutoCloseable {
    /** The content type of {@link #scrape()}. */
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
    /** Actions that replace the gauges whose tags can change between scrapes. */
    private final List<Runnable> changing = new CopyOnWriteArrayList<>();

    private final Map<Request, Timer> requests = new ConcurrentHashMap<>();

    /** The outcome of a request. */
    public enum RequestOutcome {
        /** Done. */
        OK,
        /** Rejected because of what the client requested. */
        REJECTED,
        /** Failed in the server. */
        FAILED,
        /** Abandoned by a client that disconnected before it received its reply. */
        ABANDONED
    }

    /** Registers the metrics of one source, which is read again for each metric. */
    record Figures<T>(MeterRegistry registry, Supplier<T> source) {
        /** Registers a gauge; {@code tags} are names, each followed by its value. */
        void gauge(String name, String description, ToDoubleFunction<T> figure, String... tags) {
            Gauge.builder(name, () -> figure.applyAsDouble(source.get()))
                    .description(description)
                    .tags(tags)
                    .register(registry);
        }

        /** Returns a registration for the metrics of a part of the source. */
        <P> Figures<P> part(Function<T, P> part) {
            return new Figures<>(registry, () -> part.apply(source.get()));
        }

        /** Registers a counter, with the same parameters as {@link #gauge}. */
        void counter(String name, String description, ToDoubleFunction<T> figure, String... tags) {
            FunctionCounter.builder(name, source, any -> figure.applyAsDouble(source.get()))
                    .description(description)
                    .tags(tags)
                    .register(registry);
        }
    }

    private record Request(String protocol, String operation, RequestOutcome outcome) {}

    /** Creates metrics that include those of the JVM. */
    public ServerMetrics() {
        garbageCollection.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** Returns a registration for metrics that are read from this source when they are scraped. */
    <T> Figures<T> of(Supplier<T> source) {
        return new Figures<>(registry, source);
    }

    /**
     * Counts a request.
     *
     * @param operation one of a small set of fixed words, never one chosen by a client
     */
    public void request(String protocol, String operation, RequestOutcome outcome, long nanos) {
        requests.computeIfAbsent(new Request(protocol, operation, outcome), this::timer)
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * The number of requests of a kind.
     *
     * @param seconds their total duration
     */
    public record RequestCount(String protocol, String operation, String outcome, long count, double seconds) {}

    /** Returns the number of requests so far for each kind; there are few kinds. */
    public List<RequestCount> requests() {
        return requests.entrySet().stream()
                .map(each -> new RequestCount(
                        each.getKey().protocol(),
                        each.getKey().operation(),
                        label(each.getKey()),
                        each.getValue().count(),
                        each.getValue().totalTime(TimeUnit.SECONDS)))
                .toList();
    }

    private static String label(Request request) {
        return request.outcome().name().toLowerCase(Locale.ROOT);
    }

    private Timer timer(Request request) {
        return Timer.builder("caravan.requests")
                .description("Requests, timed from when one has come in whole to its answer")
                .tag("protocol", request.protocol())
                .tag("operation", request.operation())
                .tag("outcome", label(request))
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    /** Registers a gauge of the number of a protocol's open connections. */
    public void connections(String protocol, Supplier<Number> open) {
        of(open).gauge("caravan.connections", "Open connections", Number::doubleValue, "protocol", protocol);
    }

    /** Registers a gauge of the number of names that blocking pops wait for. */
    public void waitingPops(Supplier<Number> names) {
        of(names)
                .gauge(
                        "caravan.blocked.pops",
                        "Names that clients wait for to take a value, by BLPOP",
                        Number::doubleValue);
    }

    /**
     * Registers the number of channels and patterns that clients subscribe to, and the number of clients that were
     * disconnected because they lagged too far.
     */
    public void subscriptions(Supplier<Number> open, Supplier<Number> closed) {
        of(open).gauge("caravan.subscriptions", "Channels and patterns that clients listen to", Number::doubleValue);
        of(closed)
                .counter(
                        "caravan.subscribers.closed",
                        "Connections closed because they took their messages too slowly",
                        Number::doubleValue);
    }

    /** Registers gauges of one name that differ in a tag; the tag's values may change between scrapes. */
    void gauges(String name, String description, String tag, Supplier<Map<String, Double>> figures) {
        MultiGauge gauges = MultiGauge.builder(name).description(description).register(registry);
        changing.add(() -> gauges.register(
                figures.get().entrySet().stream()
                        .<MultiGauge.Row<?>>map(
                                figure -> MultiGauge.Row.of(Tags.of(tag, figure.getKey()), figure.getValue()))
                        .toList(),
                true));
    }

    /** Returns all metrics as text. */
    public synchronized String scrape() {
        changing.forEach(Runnable::run);
        return registry.scrape();
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
    }
}
