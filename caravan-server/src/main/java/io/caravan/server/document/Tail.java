package io.caravan.server.document;

/** A wait for a document's next change, from {@link DocumentService#onChange}. */
public interface Tail extends AutoCloseable {

    /** Stops waiting. Does nothing after the change. */
    @Override
    void close();
}
