package io.caravan.server.archive;

/** Is told what verifying an archive comes upon. */
public interface VerificationListener {
    /** Something is wrong; the message names object and document, and what to do. On the thread that verifies. */
    void fault(String message);

    /** A snapshot was read whole. On any thread. */
    default void read(long bytes) {}
}
