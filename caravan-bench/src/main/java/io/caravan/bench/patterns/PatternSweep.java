package io.caravan.bench.patterns;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Runs all patterns of one kind of forcing at every write size. */
final class PatternSweep implements Measure {
    static final Figure MB_PER_SECOND = new Figure("MB/s", "%,.2f");
    private static final Figure WRITES_PER_SECOND = new Figure("writes/s", "%,.0f");

    private static final int MIN_WRITE_BYTES = 16;
    private static final int MAX_WRITE_BYTES = 1 << 20;
    private static final int STEP = 4;
    private static final int BYTES_PER_KIB = 1024;
    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    /** How seldom the clock is read when writes are cheap: reading it costs as much as a small copy. */
    private static final int WRITES_PER_LOOK = 16;

    private final Forcing forcing;
    private final List<Pattern> patterns;
    private final boolean warms;
    private final int writesPerLook;
    private final long limitBytes;
    private final long limitNanos;
    private final Results results = new Results();

    PatternSweep(Forcing forcing, boolean quick) {
        this.forcing = forcing;
        patterns = Patterns.of(forcing);
        warms = !quick;
        writesPerLook = forcing == Forcing.EACH ? 1 : WRITES_PER_LOOK;
        limitBytes = quick ? MAX_WRITE_BYTES : 64L * MAX_WRITE_BYTES;
        limitNanos = quick ? TimeUnit.MICROSECONDS.toNanos(500) : TimeUnit.MILLISECONDS.toNanos(120);
    }

    @Override
    public void run(Turn turn) throws IOException {
        try (PatternFiles files = new PatternFiles(turn.work(), limitBytes)) {
            for (Pattern pattern : turn.inTurn(patterns)) {
                turn.say(forcing.durability() + ": " + pattern.name());
                for (int writeBytes : sizes(pattern)) {
                    if (warms && turn.number() == 1) {
                        measure(pattern, files, writeBytes, limitNanos / 10);
                    }
                    Measurement measurement = measure(pattern, files, writeBytes, limitNanos);
                    results.add(row(pattern, writeBytes), measurement);
                }
            }
        }
    }

    /** The write sizes of a pattern. */
    List<Integer> sizes(Pattern pattern) {
        return sizes().stream().filter(pattern::takes).toList();
    }

    /** With batches, only sizes up to that of a batch. */
    List<Integer> sizes() {
        int max = forcing == Forcing.BATCH ? Forcing.BATCH_BYTES : MAX_WRITE_BYTES;
        return IntStream.iterate(MIN_WRITE_BYTES, bytes -> bytes <= max, bytes -> bytes * STEP)
                .boxed()
                .toList();
    }

    private Measurement measure(Pattern pattern, PatternFiles files, int writeBytes, long nanosAtMost)
            throws IOException {
        try (Writer writer = pattern.opener().open(files, writeBytes)) {
            long start = System.nanoTime();
            long bytes = write(writer, writeBytes, start + nanosAtMost);
            double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
            return new Measurement()
                    .with(MB_PER_SECOND, bytes / BYTES_PER_MB / seconds)
                    .with(WRITES_PER_SECOND, (double) bytes / writeBytes / seconds);
        }
    }

    private long write(Writer writer, int writeBytes, long endNanos) throws IOException {
        long bytes = 0;
        long forcedBytes = 0;
        do {
            for (int i = 0; i < writesPerLook && bytes < limitBytes; i++) {
                writer.write();
                bytes += writeBytes;
                if (forcing.due(bytes - forcedBytes)) {
                    writer.force();
                    forcedBytes = bytes;
                }
            }
        } while (bytes < limitBytes && System.nanoTime() - endNanos < 0);
        writer.flush();
        if (forcing != Forcing.NEVER && forcedBytes < bytes) {
            writer.force();
        }
        return bytes;
    }

    Row row(Pattern pattern, int writeBytes) {
        return new Row("writes of " + sizeText(writeBytes), pattern.name(), forcing.durability());
    }

    private static String sizeText(int bytes) {
        return bytes < BYTES_PER_KIB ? bytes + " B" : String.format(Locale.ROOT, "%,d KiB", bytes / BYTES_PER_KIB);
    }

    @Override
    public Table table() {
        return new Table(
                "Writes, " + forcing.durability(),
                String.format(
                        Locale.ROOT,
                        "In each cell, one file is written at increasing positions for %d ms or up to %d MiB,"
                                + " whichever comes first. %s",
                        TimeUnit.NANOSECONDS.toMillis(limitNanos),
                        limitBytes / MAX_WRITE_BYTES,
                        notes()),
                results);
    }

    private String notes() {
        String files = "\"Sized\" is a file with its length but without blocks, as Java cannot allocate any;"
                + " \"written before\" is one whose blocks were all written and forced, like those of a log that"
                + " fills its files with zeros in advance and recycles them.";
        return switch (forcing) {
            case NEVER ->
                files + " Nothing is forced, so these are speeds of the page cache, except for direct I/O, which"
                        + " writes whole blocks of 4 KiB only and waits for the disk, but not for a flush of the"
                        + " disk's cache.";
            case EACH ->
                files
                        + " Forced by `FileChannel.force(false)`, by `MappedByteBuffer.force` of the written part,"
                        + " or by `DSYNC`, which direct I/O also uses; a file that is opened for each write is"
                        + " forced before it is closed. \"The machine\" writes whole 4 KiB blocks, new ones for each"
                        + " write.";
            case BATCH ->
                files + " \"Gathered\" batches are assembled in memory and written with one call, like Caravan's"
                        + " log; the others are written one by one and forced together. Direct I/O is forced by"
                        + " `DSYNC`.";
        };
    }

    @Override
    public List<Picture> pictures() {
        return List.of(new SweepPicture(this, forcing, results).picture(patterns));
    }
}
