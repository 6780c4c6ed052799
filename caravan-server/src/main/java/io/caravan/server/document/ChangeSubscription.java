package io.caravan.server.document;

/** A wait for the next write to a document, from {@link DocumentService#onChange}. */
public interface ChangeSubscription extends AutoCloseable {

    /** Stops waiting. Does nothing after the write. */
    @Override
    void close();
}
