package io.caravan.server.document;

/** A registration for the next write to a document, made by {@link DocumentService#onChange}. */
public interface ChangeSubscription extends AutoCloseable {

    /** Cancels the registration. Has no effect if the write has already occurred. */
    @Override
    void close();
}
