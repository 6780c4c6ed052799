package io.caravan.bench.hostloss;

import java.util.List;

/**
 * The result of all rounds.
 *
 * @param rounds number of rounds, including a failed one
 * @param answers number of answered changes
 * @param lost answered changes that were not yet archived when their host was lost
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
