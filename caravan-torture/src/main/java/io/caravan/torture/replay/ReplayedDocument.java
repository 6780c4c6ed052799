package io.caravan.torture.replay;

import io.caravan.torture.replay.Trace.Patch;
import java.util.List;

/**
 * Rebuilds the text of a document from its retained entries alone.
 *
 * <p>Checks the order of the entries: each transaction must follow the previous one, and a snapshot must equal the text
 * at that point.
 */
final class ReplayedDocument implements Entries.Reader {
    private TextBuffer text;
    private int transactions;
    private boolean empty = true;

    private ReplayedDocument(String startContent) {
        text = TextBuffer.of(startContent);
    }

    static ReplayedDocument rebuild(String startContent, List<byte[]> entries) {
        ReplayedDocument document = new ReplayedDocument(startContent);
        entries.forEach(entry -> Entries.read(entry, document));
        return document;
    }

    @Override
    public void transaction(int index, List<Patch> patches) {
        if (index != transactions) {
            throw new IllegalStateException(
                    "the retained entries contain transaction " + index + " in place of " + transactions);
        }
        patches.forEach(text::apply);
        transactions++;
        empty = false;
    }

    @Override
    public void snapshot(int index, int[] snapshot) {
        TextBuffer saved = TextBuffer.of(snapshot);
        if (!empty && (index != transactions || !text.equals(saved))) {
            throw new IllegalStateException("the retained entries produce a different text after " + transactions
                    + " transactions than the snapshot after " + index);
        }
        text = saved;
        transactions = index;
        empty = false;
    }

    TextBuffer text() {
        return text;
    }

    /** Returns the number of transactions that the text contains. */
    int transactions() {
        return transactions;
    }
}
