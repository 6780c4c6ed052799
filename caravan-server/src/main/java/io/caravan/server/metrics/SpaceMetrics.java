package io.caravan.server.metrics;

import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.Spaces;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The contents and activity of each space, tagged with the label of its prefix. A server has at most a thousand spaces.
 */
public final class SpaceMetrics {
    private SpaceMetrics() {}

    /** Registers the metrics of the spaces that exist at each scrape. */
    public static void register(ServerMetrics metrics, Spaces spaces) {
        Gauges gauges = new Gauges(metrics, spaces);
        gauges.add("documents", "Documents in the space", Space::documents);
        gauges.add("bytes", "Bytes of the values in the space", Space::bytes);
        gauges.add(
                "quota.documents", "The space's quota of documents, 0 for none", quota(SpaceSetting.QUOTA_DOCUMENTS));
        gauges.add("quota.bytes", "The space's quota of bytes, 0 for none", quota(SpaceSetting.QUOTA_BYTES));
        gauges.add(
                "durability",
                "What has happened to a change before it is answered: 1 it is in memory, 2 the operating system has it, 3 it"
                        + " is on the disk, 4 it is replicated",
                space -> 1 + space.promise().ordinal());
        gauges.add("writes", "Changes since the start that appended or created", Space::writes);
        gauges.add("written.bytes", "Bytes that they appended", Space::writtenBytes);
        gauges.add(
                "retention.trimmed.values",
                "Values trimmed since the start because newer ones came",
                Space::retentionTrimmedValues);
        gauges.add("rejected.sizes", "Changes refused because of a size", Space::sizeRefusals);
        gauges.add("rejected.quotas", "Changes refused because of a quota", Space::quotaRefusals);
        gauges.add("rejected.rates", "Changes refused because of a rate", Space::rateRefusals);
    }

    private static ToDoubleFunction<Space> quota(SpaceSetting quota) {
        return space -> space.settings().get(quota);
    }

    private record Gauges(ServerMetrics metrics, Spaces spaces) {
        void add(String name, String description, ToDoubleFunction<Space> figure) {
            metrics.gauges("caravan.space." + name, description, "prefix", () -> {
                Map<String, Double> figures = new LinkedHashMap<>();
                spaces.all().forEach(space -> figures.put(space.prefix().label(), figure.applyAsDouble(space)));
                return figures;
            });
        }
    }
}
