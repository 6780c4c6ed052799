package io.caravan.bench.load;

/** How a load speaks to a server: what an append looks like, and what its answers do. Used by one thread at a time. */
public interface Protocol {
    /** An append of one value to a document, as it goes over the wire; not to be changed. */
    byte[] append(int document);

    /** Makes what reads the answers of one connection. */
    AnswerReader answers();

    /** A byte that each append has exactly once, by which {@link Echo} knows it. */
    byte mark();

    /** What a server that does nothing answers to each append. */
    byte[] answer();
}
