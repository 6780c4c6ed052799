package io.caravan.bench.fragmentation;

/**
 * A heap's map before the first turnover and after the last.
 *
 * @param turnovers how many there were
 */
record MapPair(HeapMap before, HeapMap after, int turnovers) {}
