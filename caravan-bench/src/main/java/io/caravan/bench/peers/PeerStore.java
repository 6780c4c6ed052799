package io.caravan.bench.peers;

import java.io.IOException;

/**
 * One open store of lists. One thread at a time appends and commits; readers run on other threads. Ids range from 0 to
 * 2<sup>31</sup> - 1.
 */
public interface PeerStore extends AutoCloseable {
    /** Appends a value to a list. The value may stay in memory until {@link #commit}. */
    void append(long id, byte[] value) throws IOException;

    /** Ends a batch. Its values become readable and, if the store was opened as synced, are fsynced. */
    void commit() throws IOException;

    /** Creates a reader of committed values, for one thread. */
    PeerReader reader() throws IOException;

    @Override
    void close() throws IOException;
}
