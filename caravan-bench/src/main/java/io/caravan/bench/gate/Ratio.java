package io.caravan.bench.gate;

import java.io.IOException;
import java.nio.file.Path;

/** The ratios that the gate checks. {@code ceilings.json} defines their meanings and ceilings. */
enum Ratio {
    WAITING_WRITER("waiting-writer", (directory, quick) -> new WaitingWriterProbe(directory, quick)),
    FSYNCS_PER_FLUSH("fsyncs-per-flush", (directory, quick) -> new FsyncsPerFlushProbe(directory)),
    WRITTEN_BYTES("written-bytes", (directory, quick) -> new WrittenBytesProbe(directory)),
    PRODUCER("producer-over-queue", ProducerProbe::overQueue),
    LARGE_VALUES_4K("large-values-4k", (directory, quick) -> ProducerProbe.overFile(directory, quick, 4 << 10)),
    LARGE_VALUES_64K("large-values-64k", (directory, quick) -> ProducerProbe.overFile(directory, quick, 64 << 10)),
    OPEN_AFTER_CLOSE(OpenProbe.Case.AFTER_CLOSE),
    OPEN_AFTER_KILL(OpenProbe.Case.AFTER_KILL),
    OPEN_UNTIL_CHECKPOINT(OpenProbe.Case.UNTIL_CHECKPOINT),
    LIST_READS("one-thread-lists", (directory, quick) -> new ReadProbe(directory)),
    SMALL_READS("two-threads-small-lists", (directory, quick) -> new TwoThreadsProbe(directory)),
    FLATNESS("flatness", FlatnessProbe::new),
    GARBAGE("garbage-per-append", (directory, quick) -> AppendProbe.garbage(directory)),
    APPEND_CPU("append-cpu", (directory, quick) -> AppendProbe.cpu(directory)),
    CHECKSUM_CPU("checksum-cpu", (directory, quick) -> LayerProbe.checksum()),
    INDEX_CPU("index-cpu", (directory, quick) -> LayerProbe.index()),
    RECORD_CPU("record-cpu", (directory, quick) -> LayerProbe.record());

    private final String title;
    private final Opener opener;

    Ratio(String title, Opener opener) {
        this.title = title;
        this.opener = opener;
    }

    Ratio(OpenProbe.Case which) {
        this(which.title(), (directory, quick) -> new OpenProbe(which, directory, quick));
    }

    private interface Opener {
        Probe open(Path directory, boolean quick) throws IOException;
    }

    /** Returns the name of the ratio in reports and in {@code ceilings.json}. */
    String title() {
        return title;
    }

    /**
     * Opens the probe that measures this ratio.
     *
     * @param directory a directory for this probe only, which does not exist yet
     * @param quick whether to use smaller counts
     */
    Probe open(Path directory, boolean quick) throws IOException {
        return opener.open(directory, quick);
    }
}
