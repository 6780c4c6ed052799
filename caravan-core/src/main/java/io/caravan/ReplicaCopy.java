package io.caravan;

import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.PieceReceiver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The files of a replica while they are received: {@link Replica#send} of another host makes the pieces. What was received
 * is no replica before it is {@linkplain #finish() finished}, and nobody has verified it then. For one thread, which
 * nobody interrupts.
 */
public final class ReplicaCopy implements AutoCloseable {
    private final PieceReceiver receiver;

    private ReplicaCopy(PieceReceiver receiver) {
        this.receiver = receiver;
    }

    /**
     * Begins a copy.
     *
     * @param directory missing or empty
     * @throws StoreDirectoryException when it holds anything, which stays as it is
     */
    public static ReplicaCopy begin(Path directory) throws IOException {
        FileStorage storage = FileStorage.openOrCreate(directory);
        try {
            if (!storage.list().isEmpty()) {
                throw new StoreDirectoryException(directory + " is not empty, and holds "
                        + storage.list().get(0) + "; receive the copy into a directory that is missing or empty");
            }
            return new ReplicaCopy(new PieceReceiver(storage, FileNames::isOurs));
        } catch (IOException | RuntimeException refused) {
            storage.close();
            throw refused;
        }
    }

    /**
     * Takes the next piece.
     *
     * @throws IOException when it does not follow the one before, or cannot be written
     */
    public void take(ByteBuffer piece) throws IOException {
        receiver.take(piece);
    }

    /** Returns when all files are durable. There are no more pieces. */
    public void finish() throws IOException {
        receiver.finish();
    }

    @Override
    public void close() throws IOException {
        receiver.close();
    }
}
