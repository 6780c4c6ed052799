package io.caravan.bench.torture;

/**
 * What a read showed of a list that another worker owns. The list must have been like that at some moment after the
 * changes that had been answered when the read was sent; and a crash must not take back what made it so.
 *
 * @param answered how many of the owner's intents had been answered when the read was sent
 * @param digest see {@link ListModel#digest()}
 * @param words who saw what, for a reader of a failure
 */
record Sighting(long id, int answered, long digest, String words) {}
