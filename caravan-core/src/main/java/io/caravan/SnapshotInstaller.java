package io.caravan;

import io.caravan.engine.ChunkStorage;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Receives the files of another node's replica, as sent by {@link Replica#send}. Treats the chunks as untrusted input.
 * The files form a replica only after {@link #finish()}, which does not verify their contents. Not thread-safe; the
 * calling thread must not be interrupted.
 */
public final class SnapshotInstaller implements AutoCloseable {
    private final Storage target;
    private @Nullable StoreFile file;

    private SnapshotInstaller(Storage target) {
        this.target = target;
    }

    /**
     * Begins to receive a replica's files in this directory.
     *
     * @param directory missing or empty
     * @throws StoreDirectoryException if the directory is not empty; its contents are not changed
     */
    public static SnapshotInstaller begin(Path directory) throws IOException {
        FileStorage storage = FileStorage.openOrCreate(directory);
        try {
            if (!storage.list().isEmpty()) {
                throw new StoreDirectoryException(directory + " is not empty, and holds "
                        + storage.list().get(0) + "; receive the copy into a directory that is missing or empty");
            }
            return new SnapshotInstaller(storage);
        } catch (IOException | RuntimeException rejected) {
            storage.close();
            throw rejected;
        }
    }

    /**
     * Receives the next chunk.
     *
     * @throws IOException if the chunk does not follow the previous chunk, or cannot be written
     */
    public void receive(ByteBuffer chunk) throws IOException {
        ByteBuffer rest = chunk.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (rest.remaining() < ChunkStorage.HEAD_BYTES) {
            throw new IOException("a chunk of " + rest.remaining() + " bytes is too short");
        }
        byte kind = rest.get();
        long number = rest.getLong();
        StoreFile now = file;
        if (number < 0) {
            throw new IOException("a chunk has the position or size " + number);
        } else if (kind == ChunkStorage.NEW_FILE && now == null) {
            file = begin(StandardCharsets.UTF_8.decode(rest).toString(), number);
        } else if (kind == ChunkStorage.CONTENT && now != null) {
            now.write(rest, number);
        } else if (kind == ChunkStorage.END_OF_FILE && now != null) {
            end(now);
        } else {
            throw new IOException("a chunk of kind " + kind + (now == null ? " outside of a file" : " within a file"));
        }
    }

    private StoreFile begin(String name, long bytes) throws IOException {
        if (!FileNames.isOurs(name) || target.list().contains(name)) {
            throw new IOException("a file of this name cannot be received, or was already: " + name);
        }
        return target.create(name, bytes);
    }

    private void end(StoreFile written) throws IOException {
        try (written) {
            file = null;
            written.force();
        }
    }

    /**
     * Completes the copy after the last chunk. All files and their names are durable when this returns.
     *
     * @throws IOException if the chunks end within a file
     */
    public void finish() throws IOException {
        if (file != null) {
            throw new IOException("the chunks end within a file");
        }
        target.forceDirectory();
    }

    @Override
    public void close() throws IOException {
        try (Storage closing = target) {
            if (file != null) {
                file.close();
            }
        }
    }
}
