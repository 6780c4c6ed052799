package io.caravan.bench.load;

/** The protocol of a load: encodes appends and reads replies. Used by one thread at a time. */
public interface Protocol {
    /** An append of one value to a document in wire format; callers must not modify it. */
    byte[] append(int document);

    /** Creates the reader of one connection's replies. */
    AnswerReader answers();

    /** A byte that occurs exactly once in each append, by which {@link Echo} recognizes it. */
    byte mark();

    /** The reply of a server that does nothing. */
    byte[] answer();
}
