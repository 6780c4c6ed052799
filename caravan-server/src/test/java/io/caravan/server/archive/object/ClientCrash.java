package io.caravan.server.archive.object;

/**
 * The crash of a process that uses an object store. It is an error so that no code handles it as a failure of the
 * store.
 */
public final class ClientCrash extends Error {
    private static final long serialVersionUID = 1L;

    public ClientCrash(String message) {
        super(message);
    }
}
