package io.caravan.server.metrics;

import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The state and progress of the archive. */
public final class ArchiveMetrics {
    private final MeterRegistry registry;
    private final Supplier<ArchiveStatus> source;

    private ArchiveMetrics(MeterRegistry registry, Supplier<ArchiveStatus> source) {
        this.registry = registry;
        this.source = source;
    }

    /** Registers the figures of a server that archives. */
    public static void register(ServerMetrics metrics, Supplier<ArchiveStatus> source) {
        ArchiveMetrics archive = new ArchiveMetrics(metrics.registry(), source);
        archive.gauges();
        archive.counters();
    }

    private void gauges() {
        for (ArchiveState state : ArchiveState.values()) {
            Gauge.builder("caravan.archive.state", () -> source.get().state() == state ? 1 : 0)
                    .description("1 for what the archive is to this server: owner when it archives, fenced when another"
                            + " server has taken the archive over")
                    .tag("state", state.label())
                    .register(registry);
        }
        gauge(
                "caravan.archive.backlog",
                "Changed documents and deletions that wait, as far as the last round has found them",
                ArchiveStatus::backlog);
        gauge(
                "caravan.archive.oldest.unarchived.seconds",
                "Upper bound of the age of the oldest change that is not archived, 0 when all are",
                ArchiveStatus::oldestUnarchivedSeconds);
        gauge(
                "caravan.archive.last.success.timestamp.seconds",
                "When something was last archived, in seconds since 1970, 0 when nothing was since the start",
                status -> status.lastSuccessMillis() / 1e3);
        gauge(
                "caravan.archive.backoff.seconds",
                "Time until the next attempt, after failures",
                ArchiveStatus::backOffSeconds);
    }

    private void counters() {
        counter("caravan.archive.documents", "Snapshots archived", ArchiveStatus::documents);
        counter("caravan.archive.tombstones", "Deletions archived", ArchiveStatus::tombstones);
        counter("caravan.archive.written.bytes", "Bytes written to the archive", ArchiveStatus::bytes);
        for (String kind : source.get().failures().keySet()) {
            FunctionCounter.builder(
                            "caravan.archive.failures",
                            source,
                            status -> status.get().failures().get(kind))
                    .description("Attempts to archive that failed")
                    .tag("kind", kind)
                    .register(registry);
        }
    }

    private void gauge(String name, String description, ToDoubleFunction<ArchiveStatus> figure) {
        Gauge.builder(name, () -> figure.applyAsDouble(source.get()))
                .description(description)
                .register(registry);
    }

    private void counter(String name, String description, ToDoubleFunction<ArchiveStatus> figure) {
        FunctionCounter.builder(name, source, status -> figure.applyAsDouble(status.get()))
                .description(description)
                .register(registry);
    }
}
