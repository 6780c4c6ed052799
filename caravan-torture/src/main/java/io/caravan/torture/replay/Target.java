package io.caravan.torture.replay;

import java.io.IOException;
import java.util.List;

/**
 * Stores a replayed document, in a store or on a server. Used by one thread; acknowledgments arrive on another thread,
 * in order.
 */
interface Target extends AutoCloseable {

    /** Receives the outcome of an append once, or not at all if {@link #kill()} returns first. */
    interface Acknowledgment {
        void durable();

        void failed(String problem);
    }

    /** Returns a description of the target for the report. */
    String description();

    /** Opens the document's store if it is not open, and starts its process if it has one. */
    void open() throws IOException;

    /** Appends an entry. */
    void append(byte[] entry, Acknowledgment acknowledgment) throws IOException;

    /** Appends an entry and removes all entries before it. */
    void snapshot(byte[] entry, Acknowledgment acknowledgment) throws IOException;

    /** Returns the retained entries, oldest first. No append may be outstanding. */
    List<byte[]> retained() throws IOException;

    /**
     * Kills the store's process with SIGKILL; every acknowledgment that was sent is delivered before this method
     * returns.
     */
    void kill() throws IOException;

    /**
     * Closes the store cleanly, so that the next {@link #open()} reads from the disk; does nothing for a store that was
     * started elsewhere.
     */
    void shut() throws IOException;

    /** Releases all resources. */
    @Override
    void close() throws IOException;
}
