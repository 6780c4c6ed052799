package io.caravan.bench.replay;

import java.util.List;

/**
 * A recorded editing session.
 *
 * @param startContent the text before all transactions
 * @param endContent the text after all transactions
 * @param transactions lists of patches, applied in order
 */
record Trace(String startContent, String endContent, List<List<Patch>> transactions) {

    /**
     * A change to a text; positions and lengths are in Unicode code points.
     *
     * @param position start of the change
     * @param deleted number of code points to delete
     * @param inserted the code points to insert
     */
    record Patch(int position, int deleted, int[] inserted) {}

    /** Returns the text after the first {@code count} transactions. */
    TextBuffer textAfter(int count) {
        TextBuffer text = TextBuffer.of(startContent);
        for (List<Patch> transaction : transactions.subList(0, count)) {
            transaction.forEach(text::apply);
        }
        return text;
    }
}
