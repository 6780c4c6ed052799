package io.caravan.bench.torture;

import java.io.IOException;

/** What is tortured: starts processes on the store, and knows the contract that they must keep. */
interface Subject extends AutoCloseable {

    /** What a store must hold to which nothing was ever written. */
    StoreModel newModel();

    /**
     * Starts a process that works on the store.
     *
     * @param before what the store holds
     */
    Session work(Shift shift, Contents before) throws IOException;

    /** Starts a process that tells what the store holds. */
    Session readOut(Shift shift) throws IOException;

    /** Opens the store a second time while a session works on it, and returns the words with which that is refused. */
    String intrude(Shift shift) throws IOException, InterruptedException;

    @Override
    void close() throws IOException;

    /**
     * A round's part in what a session does.
     *
     * @param seed of all that is random in it
     * @param smallDisk whether the disk may be full at any time
     */
    record Shift(int round, long seed, Appetite appetite, boolean smallDisk) {
        private static final long SEED_STEP = 0xD1342543DE82EF95L;

        /** The seed of one of its workers. */
        long seedOf(int worker) {
            return seed + SEED_STEP * (worker + 1);
        }
    }
}
