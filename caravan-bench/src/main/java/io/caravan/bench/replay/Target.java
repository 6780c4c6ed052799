package io.caravan.bench.replay;

import java.io.IOException;
import java.util.List;

/** Where a replayed document lives. Used by one thread; acknowledgements come on another, in order. */
interface Target extends AutoCloseable {

    /** Is told once what became of an append; never after {@link #kill()} has returned. */
    interface Acknowledgement {
        void durable();

        void failed(String problem);
    }

    /** In words, for the report. */
    String description();

    /** Makes the document's store ready, if it is not; starts its process if it has one. */
    void open() throws IOException;

    /** Appends an entry. */
    void append(byte[] entry, Acknowledgement acknowledgement) throws IOException;

    /** Appends an entry and drops all before it. */
    void snapshot(byte[] entry, Acknowledgement acknowledgement) throws IOException;

    /** The retained entries, oldest first. Nothing may be under way. */
    List<byte[]> retained() throws IOException;

    /** Kills the store's process with SIGKILL; every acknowledgement that got out is delivered before this returns. */
    void kill() throws IOException;

    /** Closes the store cleanly, so that the next {@link #open()} reads what is on disk; nothing to do where it is not ours. */
    void shut() throws IOException;

    /** Lets go of everything. */
    @Override
    void close() throws IOException;
}
