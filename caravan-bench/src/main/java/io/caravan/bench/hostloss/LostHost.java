package io.caravan.bench.hostloss;

import java.util.List;

/**
 * How a host was lost.
 *
 * @param servedNanos from the first request to the kill
 * @param killedNanos when the kill was sent
 * @param mustNanos what was answered by then must be in the archive
 * @param answers changes that were answered
 * @param longestWaitNanos the longest that an answer took
 * @param problems that came up before
 */
record LostHost(
        long servedNanos,
        long killedNanos,
        long mustNanos,
        long answers,
        long longestWaitNanos,
        List<String> problems) {}
