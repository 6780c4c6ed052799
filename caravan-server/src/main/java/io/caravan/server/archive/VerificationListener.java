package io.caravan.server.archive;

/** Is told what verifying an archive comes upon. */
public interface VerificationListener {
    /** Something is wrong; the message names object and document, and what to do. On the thread that verifies. */
    void fault(String message);

    /** Something was read: so many snapshots have come to their ends, and so many bytes. On any thread. */
    default void read(long snapshots, long bytes) {}
}
