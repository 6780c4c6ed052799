package io.caravan.server.archive.object;

/**
 * A simulated crash of a process that uses an object store. It is an error, so that no code handles it as a store
 * failure.
 */
public final class ClientCrash extends Error {
    private static final long serialVersionUID = 1L;

    public ClientCrash(String message) {
        super(message);
    }
}
