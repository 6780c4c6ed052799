package io.caravan.bench.peers;

import java.io.IOException;

/**
 * One open store of lists. One thread at a time appends and commits; readers have threads of their own. Ids are from 0 to
 * 2<sup>31</sup> - 1.
 */
public interface PeerStore extends AutoCloseable {
    /** Adds a value to a list. It may be in memory only until {@link #commit}. */
    void append(long id, byte[] value) throws IOException;

    /** Ends a batch: what was appended can be read, and is forced to the disk if the store was opened to be synced. */
    void commit() throws IOException;

    /** Makes a reader of what is committed, for one thread. */
    PeerReader reader() throws IOException;

    @Override
    void close() throws IOException;
}
