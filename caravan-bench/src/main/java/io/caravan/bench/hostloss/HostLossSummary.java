package io.caravan.bench.hostloss;

import java.util.List;

/**
 * All rounds together.
 *
 * @param rounds that were run, the failing one included
 * @param answers changes that were answered
 * @param lost answered changes that were not in the archive when their host was lost
 * @param problems what went wrong; empty when nothing did
 */
record HostLossSummary(int rounds, long answers, long lost, List<String> problems) {
    HostLossSummary {
        problems = List.copyOf(problems);
    }

    boolean clean() {
        return problems.isEmpty();
    }
}
