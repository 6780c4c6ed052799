package io.caravan.bench.published;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.engine.WaitingAppends;
import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import io.caravan.bench.server.Caravan;
import io.caravan.bench.server.RunningServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/** A workload from a post, run on a fresh Caravan store. Its documents are small JSON objects, one in each list. */
@FunctionalInterface
interface PublishedWorkload {
    /** Elapsed time divided by the number of operations, in microseconds. */
    Figure MICROS_EACH = new Figure("us each", "%,.3f");

    /** The longest time for which {@link #streamed} writes, in seconds. */
    int MAX_SECONDS = 4;

    double NANOS_PER_SECOND = 1e9;
    double NANOS_PER_MICRO = 1e3;
    double MICROS_PER_MILLI = 1e3;
    double BYTES_PER_MB = 1e6;
    int BATCH = 1_000;
    int DOCUMENT_BYTES = 200;

    /** Runs the workload at the given durability level, on files that are deleted before this method returns. */
    Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException;

    /** A workload on an open store. */
    interface OnStore {
        Measurement run(DurableListStore store, Path directory)
                throws IOException, InterruptedException, ExecutionException;
    }

    /** Returns a workload that runs on a fresh store in the turn's directory, and may close the store. */
    private static PublishedWorkload onStore(OnStore work) {
        return (turn, level) -> {
            Path path = turn.work().resolve("store");
            try (DurableListStore store = DurableListStore.open(
                    StoreConfig.builder(path).durability(level).build())) {
                return work.run(store, path);
            } finally {
                WorkDirectories.delete(path);
            }
        };
    }

    private static double secondsSince(long startNanos) {
        return (System.nanoTime() - startNanos) / NANOS_PER_SECOND;
    }

    private static byte[] document(int number) {
        String head = "{\"id\":" + number + ",\"name\":\"user-" + number + "\",\"text\":\"";
        return (head + "x".repeat(DOCUMENT_BYTES - head.length() - 2) + "\"}").getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Reads documents from a file that has one document on each line, writes them in batches, and waits for each batch.
     * Returns the time in seconds, excluding the creation of the file.
     */
    private static double fill(ListStore store, Path directory, int documents)
            throws IOException, InterruptedException, ExecutionException {
        Path file = directory.resolveSibling("documents.jsonl");
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < documents; i++) {
            lines.add(new String(document(i), StandardCharsets.US_ASCII));
        }
        Files.write(file, lines);
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            long start = System.nanoTime();
            for (int id = 0; id < documents; ) {
                WriteBatch batch = WriteBatch.create();
                for (int i = 0; i < BATCH && id < documents; i++) {
                    batch.append(id++, Objects.requireNonNull(reader.readLine()).getBytes(StandardCharsets.UTF_8));
                }
                CompletableFuture<Long> written = new CompletableFuture<>();
                store.write(batch, WriteCallback.completing(written));
                written.get();
            }
            return secondsSince(start);
        } finally {
            Files.delete(file);
        }
    }

    /** Returns a workload that writes documents from a file in batches, and waits for each batch. */
    static PublishedWorkload batched(int documents) {
        return onStore((store, directory) -> {
            double seconds = fill(store, directory, documents);
            return new Measurement()
                    .with(Figure.APPENDS_PER_SECOND, documents / seconds)
                    .with(Figure.SECONDS, seconds);
        });
    }

    /** Returns a workload that opens a cleanly closed store. */
    static PublishedWorkload opened(int documents) {
        return onStore((store, directory) -> {
            fill(store, directory, documents);
            store.close();
            long start = System.nanoTime();
            try (DurableListStore again = DurableListStore.open(directory)) {
                return new Measurement().with(Figure.SECONDS, secondsSince(start));
            }
        });
    }

    /** Returns a workload that verifies a closed store from each of its checkpoints. */
    static PublishedWorkload verified(int documents) {
        return onStore((store, directory) -> {
            fill(store, directory, documents);
            store.close();
            long start = System.nanoTime();
            VerifyReport report = DurableListStore.verify(directory, VerifyReport.Progress.NONE);
            double seconds = secondsSince(start);
            if (!report.clean()) {
                throw new IOException("the store to verify is damaged: " + report);
            }
            return new Measurement().with(Figure.SECONDS, seconds);
        });
    }

    /** Returns a workload that reads complete documents, or requests lists that do not exist, one after another. */
    static PublishedWorkload lookups(int documents, boolean hit, int millis) {
        return onStore((store, directory) -> {
            fill(store, directory, documents);
            store.flush();
            AtomicLong found = new AtomicLong();
            byte[] copy = new byte[DOCUMENT_BYTES];
            EntryStream reader = (sequence, value) -> {
                value.get(copy, 0, value.remaining());
                found.setPlain(found.getPlain() + 1);
                return true;
            };
            long start = System.nanoTime();
            long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
            long lookups = 0;
            do {
                for (int i = 0; i < BATCH; i++) {
                    store.get((hit ? 0 : documents) + lookups++ % documents, reader);
                }
            } while (System.nanoTime() - end < 0);
            long nanos = System.nanoTime() - start;
            if (found.get() != (hit ? lookups : 0)) {
                throw new IOException(lookups + " lookups found " + found + " documents");
            }
            return new Measurement().with(MICROS_EACH, nanos / NANOS_PER_MICRO / lookups);
        });
    }

    /**
     * Returns a workload of one producer that writes to the lists in turn at full speed. The measured time ends when
     * the last write has reached the durability level.
     *
     * @param warm whether to first make the same number of writes to the same lists, so that the store has reached its
     *     final size
     */
    static PublishedWorkload streamed(int count, int lists, int valueBytes, boolean warm) {
        return onStore((store, directory) -> {
            if (warm) {
                stream(store, count, lists, valueBytes);
            }
            long start = System.nanoTime();
            int written = stream(store, count, lists, valueBytes);
            double seconds = secondsSince(start);
            return new Measurement()
                    .with(Figure.APPENDS_PER_SECOND, written / seconds)
                    .with(Figure.VALUE_MB_PER_SECOND, (double) written * valueBytes / BYTES_PER_MB / seconds);
        });
    }

    private static int stream(ListStore store, int count, int lists, int valueBytes) {
        byte[] value = new byte[valueBytes];
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        int written = 0;
        for (; written < count && System.nanoTime() - end < 0; written++) {
            store.append(written % lists, value, Stores.NO_CALLBACK);
        }
        store.flush();
        return written;
    }

    /**
     * Returns a workload in which each thread writes to its own lists for a given time, and waits for each write.
     *
     * @param valueBytes length of a value, or 0 for a document
     */
    static PublishedWorkload waiting(int threads, int valueBytes, int millis) {
        return onStore((store, directory) -> {
            Measurement appends = new WaitingAppends(threads, millis)
                    .run(id -> store.append(id, valueBytes == 0 ? document(id) : new byte[valueBytes])
                            .get());
            double micros = NANOS_PER_SECOND / NANOS_PER_MICRO / appends.get(Figure.APPENDS_PER_SECOND);
            return appends.with(MICROS_EACH, micros);
        });
    }

    /**
     * Returns a workload that sends deltas at a fixed rate to a server over RESP, and times each delta from when it was
     * due. The server always fsyncs.
     *
     * @param warmSeconds number of initial seconds that do not count
     */
    static PublishedWorkload live(OpenLoop.Plan plan, int warmSeconds) {
        return (turn, level) -> {
            RespAppends protocol = new RespAppends(plan.valueBytes());
            OpenLoop.warmUp(plan, protocol);
            try (RunningServer server = RunningServer.start(Caravan.asDelivered(), turn.work())) {
                OpenLoop.Outcome outcome = new OpenLoop(plan, protocol, server.address()).run();
                if (outcome.errors() + outcome.withoutReply() > 0) {
                    throw new IOException(
                            outcome.errors() + " deltas were rejected, " + outcome.withoutReply() + " got no reply");
                }
                Histogram waits = outcome.timeline().waitsFrom(warmSeconds);
                return new Measurement()
                        .with(Figure.P50_MILLIS, waits.getValueAtPercentile(50) / MICROS_PER_MILLI)
                        .with(Figure.P98_MILLIS, waits.getValueAtPercentile(98) / MICROS_PER_MILLI);
            }
        };
    }
}
