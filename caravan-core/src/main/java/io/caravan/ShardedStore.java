package io.caravan;

import io.caravan.StoreStats.Distribution;
import io.caravan.StoreStats.HeapUse;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Combines several stores, its shards, into one, so that their logs are written and fsynced in parallel. A list with a
 * positive id is in the shard whose number is the id modulo the number of shards. Each shard has its own lists with ids
 * of zero or less: this store uses those of the first shard, and {@link #shards()} gives access to the others.
 *
 * <p><b>Differences from one store:</b>
 *
 * <ul>
 *   <li>All lists of a batch must be in one shard.
 *   <li>Callbacks follow the order of acceptance only within a shard.
 *   <li>A crash undoes unacknowledged writes in each shard separately. For example, a later write in one shard may
 *       survive while an earlier write in another is lost.
 *   <li>A shard that has failed or is full rejects its own writes; the other shards continue.
 *   <li>The store is writable when all shards are writable.
 * </ul>
 */
public final class ShardedStore implements ListStore {
    private final List<ListStore> shards;

    /** Combines the stores into one, which then owns them and closes them. */
    public ShardedStore(List<? extends ListStore> shards) {
        if (shards.isEmpty()) {
            throw new IllegalArgumentException("a sharded store needs a shard");
        }
        this.shards = List.copyOf(shards);
    }

    @Override
    public List<ListStore> shards() {
        return shards;
    }

    ListStore shardOf(long id) {
        return shards.get(id <= 0 ? 0 : (int) (id % shards.size()));
    }

    private ListStore shardOf(WriteBatch batch) {
        List<ListStore> concerned = Stream.concat(
                        batch.operations().stream().map(WriteBatch.Operation::id),
                        batch.expectations().stream().map(WriteBatch.Expectation::id))
                .map(this::shardOf)
                .distinct()
                .toList();
        if (concerned.size() > 1) {
            throw new IllegalArgumentException("all lists of a batch must be in one shard");
        }
        return concerned.isEmpty() ? shards.get(0) : concerned.get(0);
    }

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        shardOf(id).append(id, value, callback);
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        shardOf(id).append(id, value, callback);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        shardOf(batch).write(batch, callback);
    }

    @Override
    public CompletableFuture<Long> write(WriteBatch batch) {
        return shardOf(batch).write(batch);
    }

    @Override
    public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        return shardOf(batch).tryWrite(batch, callback);
    }

    @Override
    public void get(long id, EntryStream stream) {
        shardOf(id).get(id, stream);
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        shardOf(id).get(id, fromSequence, stream);
    }

    @Override
    public void getNewestFirst(long id, long beforeSequence, EntryStream stream) {
        shardOf(id).getNewestFirst(id, beforeSequence, stream);
    }

    @Override
    public void trim(long id, long count, WriteCallback callback) {
        shardOf(id).trim(id, count, callback);
    }

    @Override
    public void trimTo(long id, long firstSequence, WriteCallback callback) {
        shardOf(id).trimTo(id, firstSequence, callback);
    }

    @Override
    public void delete(long id, WriteCallback callback) {
        shardOf(id).delete(id, callback);
    }

    @Override
    public @Nullable ListInfo info(long id) {
        return shardOf(id).info(id);
    }

    @Override
    public @Nullable ListInfo accepted(long id) {
        return shardOf(id).accepted(id);
    }

    @Override
    public void acceptedLengths(long id, IntPredicate more) {
        shardOf(id).acceptedLengths(id, more);
    }

    /** Visits the lists of all shards. An id that exists in several shards is visited once for each shard. */
    @Override
    public void forEachList(LongConsumer ids) {
        shards.forEach(shard -> shard.forEachList(ids));
    }

    /**
     * Returns the combined counters and gauges of the shards. Counts are sums. Exact combined percentiles cannot be
     * computed from the shards' percentiles. Instead, each percentile is an upper bound: the maximum over the shards.
     */
    @Override
    public StoreStats stats() {
        List<StoreStats> all = shards.stream().map(ListStore::stats).toList();
        String first = all.get(0).name();
        return new StoreStats(
                all.size() == 1 ? first : first + " and " + (all.size() - 1) + " more shards",
                sum(all, StoreStats::appends),
                sum(all, StoreStats::appendedBytes),
                sum(all, StoreStats::trims),
                sum(all, StoreStats::deletes),
                sum(all, StoreStats::internalWrites),
                sum(all, StoreStats::rejections),
                sum(all, StoreStats::failures),
                sum(all, StoreStats::fsyncs),
                sum(all, StoreStats::logBytes),
                distribution(all, StoreStats::flushRecords),
                distribution(all, StoreStats::fsyncNanos),
                distribution(all, StoreStats::ackNanos),
                distribution(all, StoreStats::recentAckNanos),
                sum(all, StoreStats::lists),
                sum(all, StoreStats::values),
                heap(all.stream().map(StoreStats::heap).toList()),
                sum(all, StoreStats::logBytesSinceCheckpoint),
                sum(all, StoreStats::checkpoints),
                greatest(all, StoreStats::lastCheckpointNanos),
                sum(all, StoreStats::pinnedReaders),
                distribution(all, StoreStats::lockNanos));
    }

    private static <T> long sum(List<T> parts, ToLongFunction<T> figure) {
        return parts.stream().mapToLong(figure).sum();
    }

    private static <T> long greatest(List<T> parts, ToLongFunction<T> figure) {
        return parts.stream().mapToLong(figure).max().orElse(0);
    }

    private static Distribution distribution(List<StoreStats> all, Function<StoreStats, Distribution> of) {
        List<Distribution> parts = all.stream().map(of).toList();
        long count = sum(parts, Distribution::count);
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

    private static HeapUse heap(List<HeapUse> parts) {
        return new HeapUse(
                sum(parts, HeapUse::totalBytes),
                sum(parts, HeapUse::usedBytes),
                sum(parts, HeapUse::freeBytes),
                greatest(parts, HeapUse::largestHoleBytes),
                greatest(parts, HeapUse::segmentBytes));
    }

    /** Throws {@link UnsupportedOperationException}, because each shard has its own layout; see {@link #shards()}. */
    @Override
    public StoreLayout layout() {
        throw new UnsupportedOperationException("each shard has its own layout");
    }

    @Override
    public WriteGroup group() {
        List<WriteGroup> opened = shards.stream().map(ListStore::group).toList();
        return () -> opened.forEach(WriteGroup::close);
    }

    @Override
    public boolean writable() {
        for (ListStore shard : shards) {
            if (!shard.writable()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Waits for each shard in turn to become writable, and then runs the action. By then, some shards may no longer be
     * writable.
     */
    @Override
    public void onWritable(Runnable action) {
        // Distinguishes a StoreClosedException of the action from that of a shard.
        AtomicBoolean ran = new AtomicBoolean();
        onWritable(shards.iterator(), ran, () -> {
            ran.set(true);
            action.run();
        });
    }

    private static void onWritable(Iterator<ListStore> rest, AtomicBoolean ran, Runnable action) {
        if (!rest.hasNext()) {
            action.run();
            return;
        }
        rest.next().onWritable(() -> {
            try {
                onWritable(rest, ran, action);
            } catch (StoreClosedException closed) {
                if (ran.get()) {
                    throw closed;
                }
                // A shard is closed. The action runs anyway, so that its caller is notified.
                action.run();
            }
        });
    }

    /** Returns the executor of the first shard. Each future completes on the executor of its own shard. */
    @Override
    public Executor futureExecutor() {
        return shards.get(0).futureExecutor();
    }

    @Override
    public void flush() {
        all(ListStore::flush);
    }

    @Override
    public void checkpoint() {
        all(ListStore::checkpoint);
    }

    @Override
    public void close() {
        all(ListStore::close);
    }

    /**
     * Runs the action on every shard, even if it fails on some of them. Throws the first failure, to which the others
     * are added as suppressed exceptions. A failed store throws the same exception each time, which is added once.
     */
    private void all(Consumer<ListStore> action) {
        Throwable first = null;
        for (ListStore shard : shards) {
            try {
                action.accept(shard);
            } catch (RuntimeException | Error failed) {
                if (first == null) {
                    first = failed;
                } else if (failed != first && !List.of(first.getSuppressed()).contains(failed)) {
                    first.addSuppressed(failed);
                }
            }
        }
        if (first instanceof Error broken) {
            throw broken;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }
}
