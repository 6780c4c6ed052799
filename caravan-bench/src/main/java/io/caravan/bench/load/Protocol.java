package io.caravan.bench.load;

/** The protocol of a load: encodes appends and reads replies. Used by one thread at a time. */
public interface Protocol {
    /** Returns an append of one value to a document, in wire format. Callers must not modify the array. */
    byte[] append(int document);

    /** Creates the reader of one connection's replies. */
    AnswerReader answers();

    /** Returns a byte that occurs exactly once in each append, by which {@link Echo} recognizes the append. */
    byte mark();

    /** Returns the reply that {@link Echo} sends. */
    byte[] answer();
}
