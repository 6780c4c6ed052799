package io.caravan;

import io.caravan.StoreStats.Distribution;
import io.caravan.StoreStats.HeapUse;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The counters and gauges of several stores as those of one. Counts are sums. What a histogram's points would be cannot
 * be told from the groups' points; here they are those of the group where they are greatest, which are no less.
 */
final class GroupStats {
    private final List<StoreStats> all;

    private GroupStats(List<StoreStats> all) {
        this.all = all;
    }

    static StoreStats together(List<StoreStats> groups) {
        return new GroupStats(groups).together();
    }

    private StoreStats together() {
        String first = all.get(0).name();
        return new StoreStats(
                all.size() == 1 ? first : first + " and " + (all.size() - 1) + " more groups",
                sum(StoreStats::appends),
                sum(StoreStats::appendedBytes),
                sum(StoreStats::trims),
                sum(StoreStats::deletes),
                sum(StoreStats::refusals),
                sum(StoreStats::failures),
                sum(StoreStats::forces),
                sum(StoreStats::logBytes),
                distribution(StoreStats::batchRecords),
                distribution(StoreStats::forceNanos),
                distribution(StoreStats::ackNanos),
                distribution(StoreStats::recentAckNanos),
                sum(StoreStats::lists),
                heap(),
                sum(StoreStats::logBytesSinceCheckpoint),
                sum(StoreStats::checkpoints),
                greatest(all, StoreStats::lastCheckpointNanos),
                sum(StoreStats::pinnedReaders),
                distribution(StoreStats::lockNanos));
    }

    private long sum(ToLongFunction<StoreStats> figure) {
        return all.stream().mapToLong(figure).sum();
    }

    private static <T> long greatest(List<T> of, ToLongFunction<T> figure) {
        return of.stream().mapToLong(figure).max().orElse(0);
    }

    private Distribution distribution(Function<StoreStats, Distribution> of) {
        List<Distribution> parts = all.stream().map(of).toList();
        long count = parts.stream().mapToLong(Distribution::count).sum();
        double total =
                parts.stream().mapToDouble(part -> part.mean() * part.count()).sum();
        return new Distribution(
                count,
                count == 0 ? 0 : total / count,
                greatest(parts, Distribution::p50),
                greatest(parts, Distribution::p90),
                greatest(parts, Distribution::p99),
                greatest(parts, Distribution::p999),
                greatest(parts, Distribution::max));
    }

    private HeapUse heap() {
        List<HeapUse> parts = all.stream().map(StoreStats::heap).toList();
        return new HeapUse(
                parts.stream().mapToLong(HeapUse::totalBytes).sum(),
                parts.stream().mapToLong(HeapUse::usedBytes).sum(),
                parts.stream().mapToLong(HeapUse::freeBytes).sum(),
                greatest(parts, HeapUse::largestHoleBytes),
                greatest(parts, HeapUse::segmentBytes));
    }
}
