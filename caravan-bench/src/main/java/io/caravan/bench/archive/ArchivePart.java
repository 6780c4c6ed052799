package io.caravan.bench.archive;

import io.caravan.bench.report.Measure;
import java.util.Locale;
import java.util.function.Function;

/** What can be measured, in the order in which it is. */
enum ArchivePart {
    DOCUMENTS(DocumentRates::new),
    LARGE(LargeDocuments::new),
    APPENDS(AppendRates::new),
    RESTORE(RestoreTimes::new);

    private final Function<Boolean, Measure> measure;

    ArchivePart(Function<Boolean, Measure> measure) {
        this.measure = measure;
    }

    /** A fresh measure; a quick one shows that it works, and says nothing of speed. */
    Measure measure(boolean quick) {
        return measure.apply(quick);
    }

    /** As people write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
