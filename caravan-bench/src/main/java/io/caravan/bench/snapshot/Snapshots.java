package io.caravan.bench.snapshot;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotReader;
import io.caravan.server.archive.format.SnapshotWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.UUID;

/** Converts large and small documents to the archive's format and back, beside the hash that covers every byte. */
final class Snapshots implements Measure {
    private static final String CARAVAN = "Caravan";
    private static final String WHERE = "in memory";
    private static final int[] LARGE_VALUE_BYTES = {200, 64 << 10};
    private static final int SMALL_VALUE_BYTES = 200;
    private static final int SMALL_VALUES = 20;
    private static final int WARM_UPS = 2;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double BYTES_PER_MB = 1e6;

    private final Results results = new Results();
    private final long seed;
    private final boolean quick;

    Snapshots(long seed, boolean quick) {
        this.seed = seed;
        this.quick = quick;
    }

    @Override
    public Table table() {
        return new Table("Snapshots in memory", "One thread.", results);
    }

    @Override
    public void run(Turn turn) throws IOException {
        if (turn.number() == 1 && !quick) {
            turn.say("warming up");
            for (int i = 0; i < WARM_UPS; i++) {
                measureAll(false);
            }
        }
        turn.say("writing and reading snapshots");
        measureAll(true);
    }

    private void measureAll(boolean warm) throws IOException {
        try {
            for (int valueBytes : LARGE_VALUE_BYTES) {
                int count = (quick ? 1 << 20 : 256 << 20) / valueBytes;
                measure(SnapshotWorkload.edits(seed, count, valueBytes), 1, warm);
                measure(SnapshotWorkload.noise(seed, count, valueBytes), 1, warm);
            }
            int documents = quick ? 100 : 20_000;
            measure(SnapshotWorkload.edits(seed, SMALL_VALUES, SMALL_VALUE_BYTES), documents, warm);
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java has SHA-256", absent);
        }
    }

    /**
     * Writes and reads the same document several times.
     *
     * @param warm whether the figures count
     */
    private void measure(SnapshotWorkload workload, int times, boolean warm)
            throws IOException, NoSuchAlgorithmException {
        byte[] object = write(workload);
        String values = String.format(
                Locale.ROOT,
                "%,d values of %,d bytes, %s",
                workload.values().size(),
                workload.valueBytes(),
                workload.name());
        Measurement hash = timed(workload, times, () -> hash(workload));
        Measurement write = timed(workload, times, () -> writeTo(OutputStream.nullOutputStream(), workload))
                .with(Figure.STORED_RATIO, (double) object.length / workload.bytes());
        Measurement read = timed(workload, times, () -> read(object));
        if (warm) {
            results.add(new Row("hash " + values, "SHA-256 alone", WHERE), hash);
            results.add(new Row("write " + values, CARAVAN, WHERE), write);
            results.add(new Row("read " + values, CARAVAN, WHERE), read);
        }
    }

    private interface Action {
        void run() throws IOException, NoSuchAlgorithmException;
    }

    private static Measurement timed(SnapshotWorkload workload, int times, Action action)
            throws IOException, NoSuchAlgorithmException {
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            action.run();
        }
        double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
        return new Measurement()
                .with(Figure.VALUE_MB_PER_SECOND, times * workload.bytes() / BYTES_PER_MB / seconds)
                .with(Figure.DOCUMENTS_PER_SECOND, times / seconds);
    }

    private static void hash(SnapshotWorkload workload) throws NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        workload.values().forEach(value -> digest.update(value.array()));
        digest.digest();
    }

    private static byte[] write(SnapshotWorkload workload) throws IOException {
        ByteArrayOutputStream object = new ByteArrayOutputStream();
        writeTo(object, workload);
        return object.toByteArray();
    }

    private static void writeTo(OutputStream target, SnapshotWorkload workload) throws IOException {
        SnapshotHeader header = new SnapshotHeader(
                new UUID(1, 2),
                DocumentName.of("doc"),
                1,
                1,
                1,
                0,
                workload.values().size(),
                1,
                Attributes.EMPTY);
        SnapshotWriter writer = new SnapshotWriter(target, header);
        long sequence = 0;
        for (ByteBuffer value : workload.values()) {
            writer.add(sequence++, value);
        }
        writer.finish();
    }

    private static void read(byte[] object) {
        try (SnapshotReader reader = SnapshotReader.open(new ByteArrayInputStream(object), "snapshot")) {
            while (reader.next()) {
                // The reader has already verified each value.
            }
        }
    }
}
