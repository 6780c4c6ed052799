package io.caravan.server.archive.restore;

import java.util.List;

/**
 * What a drill came to.
 *
 * @param documents documents that were restored and compared
 * @param values values that were restored and compared
 * @param failures what was wrong, a sentence each, naming document and object
 * @param finishedMillis when it ended, in milliseconds since 1970
 */
public record DrillReport(long documents, long values, List<String> failures, long finishedMillis) {
    public DrillReport {
        failures = List.copyOf(failures);
    }
}
