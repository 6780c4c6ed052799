package io.caravan.bench.fragmentation;

/**
 * A heap's map before the first turnover and after the last.
 *
 * @param turnovers number of turnovers
 */
record MapPair(HeapMap before, HeapMap after, int turnovers) {}
