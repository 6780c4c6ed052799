package io.caravan.server.metrics;

import io.caravan.StoreStats;
import io.caravan.server.archive.restore.Drills;
import io.caravan.server.archive.restore.Hydration;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.Network;
import io.caravan.server.security.Authenticator;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
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
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Records metrics, and exports them for Prometheus. Recording a request costs a histogram update. Thread-safe. */
public final class ServerMetrics implements AutoCloseable {
    /** The content type of {@link #scrape()}. */
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String REQUESTS = "caravan.requests";
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

    private static final Duration TICK = Duration.ofSeconds(1);

    private final CoarseClock clock;
    private final PrometheusMeterRegistry registry;
    private final JvmGcMetrics garbageCollection = new JvmGcMetrics();
    /** Actions that register gauges again before each scrape, because their tags can change. */
    private final List<Runnable> changing = new CopyOnWriteArrayList<>();

    private final Map<String, Supplier<Number>> connections = new ConcurrentHashMap<>();

    /**
     * A clock for the windows in which the longest recent request is found. Each record reads this clock twice, so it
     * returns the time of the last tick, which is at most {@link #TICK} old, instead of asking the operating system.
     */
    private static final class CoarseClock implements Clock {
        private final LongSupplier wallMillis;
        private volatile long lastMillis;

        CoarseClock(LongSupplier wallMillis) {
            this.wallMillis = wallMillis;
            tick();
        }

        void tick() {
            lastMillis = wallMillis.getAsLong();
        }

        @Override
        public long wallTime() {
            return lastMillis;
        }

        @Override
        public long monotonicTime() {
            return System.nanoTime();
        }
    }

    /** The outcome of a request. */
    public enum RequestOutcome {
        /** The server completed the request. */
        OK,
        /** The server rejected the request because of a client error. */
        REJECTED,
        /** The request failed because of a server error. */
        FAILED,
        /** The client disconnected before it received its reply. */
        ABANDONED
    }

    /** The requests for one operation. */
    public final class Operation {
        private final String protocol;
        private final String name;
        /** The timers that have been looked up, by outcome. */
        private final AtomicReferenceArray<@Nullable Timer> timers =
                new AtomicReferenceArray<>(RequestOutcome.values().length);

        private Operation(String protocol, String name) {
            this.protocol = protocol;
            this.name = name;
        }

        /** Counts a request. */
        public void count(RequestOutcome outcome, long nanos) {
            Timer timer = timers.get(outcome.ordinal());
            if (timer == null) {
                // Returns the same timer if an object with these labels has registered it.
                timer = Timer.builder(REQUESTS)
                        .description(Statistics.REQUESTS.text())
                        .tag("protocol", protocol)
                        .tag("operation", name)
                        .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
                        .serviceLevelObjectives(BUCKETS)
                        .register(registry);
                timers.set(outcome.ordinal(), timer);
            }
            timer.record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Creates metrics that include those of the JVM. */
    public ServerMetrics() {
        this(System::currentTimeMillis);
    }

    ServerMetrics(LongSupplier wallMillis) {
        clock = new CoarseClock(wallMillis);
        registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), clock);
        garbageCollection.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        register(Statistics.CONNECTIONS, () -> connections);
    }

    /** Registers the metrics of the store, its documents, its spaces, and its disk. */
    public void register(DocumentService documents, DiskSpace disk) {
        register(Statistics.DOCUMENTS, () -> documents);
        CachedResult<StoreStats> latest = new CachedResult<>(Duration.ofSeconds(1), System::nanoTime);
        register(Statistics.STORE, () -> latest.get(documents.store()::stats));
        register(Statistics.DISK, () -> disk);
        register(Statistics.SPACES, documents::spaces);
    }

    /** Registers the metrics of client connections and authentication. The network keeps the time of all metrics. */
    public void register(Network network, Authenticator authenticator) {
        network.repeat(TICK, clock::tick);
        register(Statistics.NETWORK, () -> network);
        register(Statistics.AUTHENTICATION, () -> authenticator);
    }

    /** Registers the metrics of hydration and drills, if they are configured. */
    public void register(RestoreService restores) {
        Hydration hydration = restores.hydration();
        if (hydration != null) {
            register(Statistics.HYDRATION, () -> hydration);
        }
        Drills drills = restores.drills();
        if (drills != null) {
            register(Statistics.DRILLS, () -> drills);
        }
    }

    /** Registers metrics whose values are read from the source at each scrape. */
    public <T> void register(List<Statistic<T>> statistics, Supplier<T> source) {
        statistics.stream().filter(Statistic::isMetric).forEach(each -> register(each, source));
    }

    /** Registers a metric whose values are read from the source at each scrape. */
    public <T> void register(Statistic<T> statistic, Supplier<T> source) {
        String label = statistic.label();
        if (label != null && statistic.type() == Statistic.Type.GAUGE) {
            MultiGauge gauges = MultiGauge.builder(statistic.name())
                    .description(statistic.text())
                    .register(registry);
            changing.add(() -> gauges.register(
                    statistic.values().apply(source.get()).entrySet().stream()
                            .<MultiGauge.Row<?>>map(each -> MultiGauge.Row.of(
                                    Tags.of(label, each.getKey()),
                                    each.getValue().doubleValue() * statistic.scale()))
                            .toList(),
                    true));
        } else if (statistic.type() == Statistic.Type.GAUGE) {
            Gauge.builder(statistic.name(), () -> statistic.metric(source.get(), ""))
                    .description(statistic.text())
                    .register(registry);
        } else {
            Set<String> values = label == null
                    ? Set.of("")
                    : statistic.values().apply(source.get()).keySet();
            for (String value : values) {
                FunctionCounter.builder(statistic.name(), source, any -> statistic.metric(source.get(), value))
                        .description(statistic.text())
                        .tags(label == null ? Tags.empty() : Tags.of(label, value))
                        .register(registry);
            }
        }
    }

    /**
     * Returns the requests for an operation. Keep the object, because counting with it needs no lookup.
     *
     * @param name one of a small set of fixed words, never one chosen by a client
     */
    public Operation operation(String protocol, String name) {
        return new Operation(protocol, name);
    }

    /** The number of requests with the same labels, and their total duration in seconds. */
    public record RequestCount(String protocol, String operation, String outcome, long count, double seconds) {}

    /** Returns the number of requests so far for each combination of protocol, operation, and outcome. */
    public List<RequestCount> requests() {
        return registry.find(REQUESTS).timers().stream()
                .map(timer -> new RequestCount(
                        label(timer, "protocol"),
                        label(timer, "operation"),
                        label(timer, "outcome"),
                        timer.count(),
                        timer.totalTime(TimeUnit.SECONDS)))
                .toList();
    }

    private static String label(Timer timer, String name) {
        return Objects.requireNonNull(timer.getId().getTag(name));
    }

    /** Registers a metric for the number of a protocol's open connections. */
    public void connections(String protocol, Supplier<Number> open) {
        connections.put(protocol, open);
    }

    /** Returns all metrics as text. */
    public synchronized String scrape() {
        clock.tick();
        changing.forEach(Runnable::run);
        return registry.scrape();
    }

    @Override
    public void close() {
        garbageCollection.close();
        registry.close();
    }
}
