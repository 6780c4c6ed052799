package io.caravan.bench.replay;

import java.util.List;

/**
 * A recorded editing session.
 *
 * @param startContent the text before
 * @param endContent the text after all transactions
 * @param transactions lists of patches, applied in order
 */
record Trace(String startContent, String endContent, List<List<Patch>> transactions) {

    /** The text after the first {@code count} transactions. */
    TextBuffer textAfter(int count) {
        TextBuffer text = TextBuffer.of(startContent);
        for (List<Patch> transaction : transactions.subList(0, count)) {
            transaction.forEach(text::apply);
        }
        return text;
    }
}
