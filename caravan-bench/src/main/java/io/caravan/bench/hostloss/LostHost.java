package io.caravan.bench.hostloss;

import java.util.List;

/**
 * The loss of a host.
 *
 * @param servedNanos from the first request to the kill
 * @param killedNanos when the kill was sent
 * @param mustNanos changes answered by then must be in the archive
 * @param answers number of answered changes
 * @param longestWaitNanos the longest time that an answer took
 * @param problems found before the loss
 */
record LostHost(
        long servedNanos,
        long killedNanos,
        long mustNanos,
        long answers,
        long longestWaitNanos,
        List<String> problems) {}
