package io.caravan.server.document;

/** A wait for a document's next change, from {@link DocumentService#onChange}. */
public interface Tail extends AutoCloseable {

    /** Waits no more. Does nothing when the change has been told of. */
    @Override
    void close();
}
