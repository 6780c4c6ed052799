package io.caravan.server.archive.object;

/** The process that used an object store has died; an error, so that nobody takes it for the store's answer. */
public final class ClientCrash extends Error {
    private static final long serialVersionUID = 1L;

    public ClientCrash(String message) {
        super(message);
    }
}
