package io.caravan.bench.torture;

/**
 * The result of reading a list that another worker owns. The list must have had these contents at some moment after the
 * changes that were answered before the read was sent, and a crash must not undo the changes that led to them.
 *
 * @param answered number of the owner's intents that were answered when the read was sent
 * @param digest see {@link ListModel#digest()}
 * @param words a description, for failure reports
 */
record Sighting(long id, int answered, long digest, String words) {}
