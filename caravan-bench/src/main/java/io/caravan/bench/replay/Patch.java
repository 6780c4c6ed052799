package io.caravan.bench.replay;

/**
 * One change to a text, counted in Unicode code points.
 *
 * @param position start of the change
 * @param deleted number of code points to delete
 * @param inserted the code points to insert
 */
record Patch(int position, int deleted, int[] inserted) {}
