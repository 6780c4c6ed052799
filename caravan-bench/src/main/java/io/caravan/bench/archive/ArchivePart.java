package io.caravan.bench.archive;

import io.caravan.bench.report.Measure;
import java.util.Locale;
import java.util.function.Function;

/** The parts of this benchmark, in the order in which they run by default. */
enum ArchivePart {
    DOCUMENTS(DocumentRates::new),
    LARGE(LargeDocuments::new),
    APPENDS(AppendRates::new),
    RESTORE(RestoreTimes::new);

    private final Function<Boolean, Measure> measure;

    ArchivePart(Function<Boolean, Measure> measure) {
        this.measure = measure;
    }

    /** Creates the part. A quick run shows that it works, but not how fast it is. */
    Measure measure(boolean quick) {
        return measure.apply(quick);
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
