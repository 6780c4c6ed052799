package io.caravan.torture.round;

import io.caravan.torture.model.Contents;
import io.caravan.torture.model.StoreModel;
import java.io.IOException;

/** The system under test: starts processes that use the store, and models the contract that they must fulfill. */
public interface TortureSubject extends AutoCloseable {

    /** Returns a model of a new, empty store. */
    StoreModel newModel();

    /**
     * Starts a process that works on the store.
     *
     * @param before the contents of the store
     */
    TortureSession work(Shift shift, Contents before) throws IOException;

    /** Starts a process that reports the contents of the store. */
    TortureSession readOut(Shift shift) throws IOException;

    /** Tries to open the store a second time while a session works on it, and returns the error message. */
    String intrude(Shift shift) throws IOException, InterruptedException;

    @Override
    void close() throws IOException;

    /**
     * The parameters of a session's work in one round.
     *
     * @param seed seed of all random choices in the session
     * @param smallDisk whether the disk may be full at any time
     */
    record Shift(int round, long seed, Appetite appetite, boolean smallDisk) {
        private static final long SEED_STEP = 0xD1342543DE82EF95L;

        public long seedOf(int worker) {
            return seed + SEED_STEP * (worker + 1);
        }
    }
}
