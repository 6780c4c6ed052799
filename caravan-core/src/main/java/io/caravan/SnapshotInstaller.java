package io.caravan;

import io.caravan.engine.ChunkFiles;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Receives the files of another node's replica, as sent by {@link Replica#send}. Treats the chunks as untrusted input.
 * The files form a replica only after {@link #finish()}, which does not verify their contents. Not thread-safe; the
 * calling thread must not be interrupted.
 *
 * <p>Rejects a chunk with an {@link IOException} if the chunk does not follow the previous chunk, or cannot be written.
 */
public interface SnapshotInstaller extends Replica.Chunks, AutoCloseable {

    /**
     * Begins to receive a replica's files in this directory.
     *
     * @param directory missing or empty
     * @throws StoreDirectoryException if the directory is not empty; its contents are not changed
     */
    static SnapshotInstaller begin(Path directory) throws IOException {
        return new ChunkFiles(FileStorage.open(directory, FileStorage.Access.CREATE, FileStorage::requireEmpty));
    }

    /**
     * Completes the copy after the last chunk. All files and their names are durable when this returns.
     *
     * @throws IOException if the chunks end within a file
     */
    void finish() throws IOException;

    @Override
    void close() throws IOException;
}
