package io.caravan.server.metrics;

import io.caravan.server.archive.restore.Drills;
import io.caravan.server.archive.restore.Drills.DrillReport;
import io.caravan.server.archive.restore.Hydration;
import io.caravan.server.archive.restore.ServerRestores;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** What the server restores from its archive by itself: hydration and drills. */
public final class RestoreMetrics {
    private final MeterRegistry registry;

    private RestoreMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Registers the figures of hydration and drills, where they are configured. */
    public static void register(ServerMetrics metrics, ServerRestores restores) {
        RestoreMetrics figures = new RestoreMetrics(metrics.registry());
        Hydration hydration = restores.hydration();
        if (hydration != null) {
            figures.hydration(hydration);
        }
        Drills drills = restores.drills();
        if (drills != null) {
            figures.drills(drills);
        }
    }

    private void hydration(Hydration hydration) {
        counter("caravan.hydrate.documents", "Documents fetched from the archive", hydration, Hydration::hydrated);
        counter("caravan.hydrate.failures", "Fetches that failed", hydration, Hydration::failures);
        Gauge.builder("caravan.hydrate.waiting", hydration::fetching)
                .description("Documents that are being fetched, or wait for it")
                .register(registry);
    }

    private void drills(Drills drills) {
        counter(
                "caravan.drill.failures",
                "Documents that a drill could not restore as they were",
                drills,
                Drills::failures);
        last(
                "caravan.drill.last.timestamp.seconds",
                "When the last drill ended, in seconds since 1970, 0 when there was none since the start",
                drills,
                report -> report.finishedMillis() / 1e3);
        last("caravan.drill.last.documents", "Documents that the last drill restored", drills, DrillReport::documents);
        last(
                "caravan.drill.last.failures",
                "Failures of the last drill",
                drills,
                report -> report.failures().size());
    }

    private <T> void counter(String name, String description, T source, ToDoubleFunction<T> figure) {
        FunctionCounter.builder(name, source, figure).description(description).register(registry);
    }

    private void last(String name, String description, Drills drills, ToDoubleFunction<DrillReport> figure) {
        Gauge.builder(name, () -> {
                    DrillReport report = drills.last();
                    return report == null ? 0 : figure.applyAsDouble(report);
                })
                .description(description)
                .register(registry);
    }
}
