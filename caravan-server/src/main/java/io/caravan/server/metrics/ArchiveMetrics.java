package io.caravan.server.metrics;

import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.restore.Drills;
import io.caravan.server.archive.restore.Drills.DrillReport;
import io.caravan.server.archive.restore.Hydration;
import io.caravan.server.archive.restore.ServerRestores;
import io.caravan.server.metrics.ServerMetrics.Figures;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The state and progress of the archive, and the restores that the server starts on its own. */
public final class ArchiveMetrics {
    private ArchiveMetrics() {}

    /** Registers the metrics of a server with an archive. */
    public static void register(ServerMetrics metrics, Supplier<ArchiveStatus> source) {
        Figures<ArchiveStatus> archive = metrics.of(source);
        for (ArchiveState state : ArchiveState.values()) {
            archive.gauge(
                    "caravan.archive.state",
                    "1 for what the archive is to this server: owner when it archives, fenced when another server has"
                            + " taken the archive over",
                    status -> status.state() == state ? 1 : 0,
                    "state",
                    state.label());
        }
        archive.gauge(
                "caravan.archive.backlog",
                "Changed documents and deletions that wait, but for those that their space lets wait, as far as the last round"
                        + " has found them",
                ArchiveStatus::backlog);
        archive.gauge(
                "caravan.archive.lag.seconds",
                "Upper bound of the age of the oldest change in the backlog, 0 when there is none",
                ArchiveStatus::lagSeconds);
        archive.gauge(
                "caravan.archive.overdue.seconds",
                "Upper bound of how much older a change in the backlog is than archive-after allows, the server's or its"
                        + " space's, 0 when none is",
                ArchiveStatus::overdueSeconds);
        archive.gauge(
                "caravan.archive.last.success.timestamp.seconds",
                "When something was last archived, in seconds since 1970, 0 when nothing was since the start",
                status -> status.lastSuccessMillis() / 1e3);
        archive.gauge(
                "caravan.archive.backoff.seconds",
                "Time until the next attempt, after failures",
                ArchiveStatus::backOffSeconds);
        archive.counter("caravan.archive.documents", "Snapshots archived", ArchiveStatus::documents);
        archive.counter("caravan.archive.tombstones", "Deletions archived", ArchiveStatus::tombstones);
        archive.counter("caravan.archive.written.bytes", "Bytes written to the archive", ArchiveStatus::bytes);
        for (String kind : source.get().failures().keySet()) {
            archive.counter(
                    "caravan.archive.failures",
                    "Attempts to archive that failed",
                    status -> status.failures().get(kind),
                    "kind",
                    kind);
        }
    }

    /** Registers the metrics of hydration and drills, if they are configured. */
    public static void register(ServerMetrics metrics, ServerRestores restores) {
        Hydration hydration = restores.hydration();
        if (hydration != null) {
            Figures<Hydration> figures = metrics.of(() -> hydration);
            figures.counter("caravan.hydrate.documents", "Documents fetched from the archive", Hydration::hydrated);
            figures.counter("caravan.hydrate.failures", "Fetches that failed", Hydration::failures);
            figures.gauge(
                    "caravan.hydrate.waiting", "Documents that are being fetched, or wait for it", Hydration::fetching);
        }
        Drills drills = restores.drills();
        if (drills != null) {
            drills(metrics.of(() -> drills));
        }
    }

    private static void drills(Figures<Drills> figures) {
        figures.counter(
                "caravan.drill.failures", "Documents that a drill could not restore as they were", Drills::failures);
        figures.gauge(
                "caravan.drill.last.timestamp.seconds",
                "When the last drill ended, in seconds since 1970, 0 when there was none since the start",
                last(report -> report.finishedMillis() / 1e3));
        figures.gauge(
                "caravan.drill.last.documents", "Documents that the last drill restored", last(DrillReport::documents));
        figures.gauge(
                "caravan.drill.last.failures",
                "Failures of the last drill",
                last(report -> report.failures().size()));
    }

    private static ToDoubleFunction<Drills> last(ToDoubleFunction<DrillReport> figure) {
        return drills -> {
            DrillReport report = drills.last();
            return report == null ? 0 : figure.applyAsDouble(report);
        };
    }
}
