package io.caravan.server.archive.restore;

/** Is told what becomes of each document of a whole restore, by one thread at a time. */
public interface RestoreListener {

    /** The document is there and durable. */
    void restored(Restored restored);

    /** The document, or its latest generation, could not be restored. */
    void fault(RestoreFault fault);
}
