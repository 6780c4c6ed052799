package io.caravan.server.archive;

import io.caravan.server.archive.format.SnapshotHeader;
import io.caravan.server.archive.format.SnapshotWriter;
import java.io.IOException;

/** Where the values of a snapshot come from, while it is put. */
@FunctionalInterface
public interface SnapshotSource {

    /** Where a snapshot goes. */
    @FunctionalInterface
    interface Target {
        /**
         * Begins the snapshot, once per call of {@link SnapshotSource#writeTo}. The header says what the document is at the
         * moment whose values follow, which may be a later one than when the put was asked for: its sequences, attributes
         * and time may have gone on, its name, incarnation, generation and epoch may not.
         *
         * @throws IllegalArgumentException when the header is of another document, or goes back
         */
        SnapshotWriter begin(SnapshotHeader header) throws IOException;
    }

    /**
     * Writes all values of one moment, on the caller's thread or one of the object store's. It is called again when the
     * put has to start over, and then may write those of a later moment. The writer is finished by whoever called. What
     * this throws ends the put, with nothing put: an {@link IOException} of the target must go through, and a runtime
     * exception reaches who asked for the put as it is.
     */
    void writeTo(Target target) throws IOException;
}
