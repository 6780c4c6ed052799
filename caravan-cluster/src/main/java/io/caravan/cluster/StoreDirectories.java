package io.caravan.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.apache.ratis.util.FileUtils;

/**
 * The store's directory, and the adjacent directories that exist while a received snapshot replaces the store. A
 * complete snapshot is renamed. From then on, the snapshot is the store, even if the old store still exists. After a
 * crash, {@link #recover} completes the replacement or deletes the leftovers.
 */
final class StoreDirectories {
    private final Path store;
    private final Path incoming;
    private final Path received;

    StoreDirectories(Path store) {
        this.store = store;
        this.incoming = store.resolveSibling(store.getFileName() + ".incoming");
        this.received = store.resolveSibling(store.getFileName() + ".received");
    }

    /** Returns the directories that may exist next to the store's directory during a replacement. */
    List<Path> adjacent() {
        return List.of(incoming, received);
    }

    /** Completes an interrupted replacement, and deletes an incomplete snapshot. Called before the store is opened. */
    void recover() throws IOException {
        FileUtils.deleteFully(incoming);
        if (Files.isDirectory(received)) {
            takeReceived();
        }
    }

    /** Returns the directory for an incoming snapshot; the directory does not exist yet. */
    Path beginIncoming() throws IOException {
        FileUtils.deleteFully(incoming);
        return incoming;
    }

    /** Installs the incoming snapshot, which must be complete, fsynced, and closed. The old store must be closed. */
    void install() throws IOException {
        Files.move(incoming, received, StandardCopyOption.ATOMIC_MOVE);
        takeReceived();
    }

    private void takeReceived() throws IOException {
        // Otherwise a power failure could undo the renaming but not the deletion.
        force(store.resolveSibling("."));
        FileUtils.deleteFully(store);
        Files.move(received, store, StandardCopyOption.ATOMIC_MOVE);
        force(store.resolveSibling("."));
    }

    /** Creates or replaces a file, which has all of the new content or its previous state after a crash. */
    static void replace(Path file, ByteBuffer content) throws IOException {
        Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
        try (FileChannel channel = FileChannel.open(
                temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            while (content.hasRemaining()) {
                channel.write(content);
            }
            channel.force(true);
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        force(file.resolveSibling("."));
    }

    /** Fsyncs a directory, so that the names in it are durable. */
    static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
