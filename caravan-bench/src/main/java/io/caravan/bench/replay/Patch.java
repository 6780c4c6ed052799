package io.caravan.bench.replay;

/**
 * One change of a text. All counts are of Unicode code points.
 *
 * @param position where it happens
 * @param deleted how many code points go
 * @param inserted the code points that come in their place
 */
record Patch(int position, int deleted, int[] inserted) {}
