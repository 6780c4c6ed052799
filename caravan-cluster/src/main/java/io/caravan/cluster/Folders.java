package io.caravan.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The store's folder, and those beside it while the store is replaced by one that was received. What is received gets a
 * second name when it is whole: from then on it is the store, whatever becomes of the old one. A crash leaves files that
 * {@link #recover} finishes or clears away.
 */
final class Folders {
    private final Path store;
    private final Path incoming;
    private final Path received;

    Folders(Path store) {
        this.store = store;
        this.incoming = store.resolveSibling(store.getFileName() + ".incoming");
        this.received = store.resolveSibling(store.getFileName() + ".received");
    }

    /** Those beside the store's. */
    List<Path> beside() {
        return List.of(incoming, received);
    }

    /** Before the store is opened: finishes what was begun, and forgets what was not received whole. */
    void recover() throws IOException {
        forget();
        if (Files.isDirectory(received)) {
            takeReceived();
        }
    }

    /** Where files are received; nothing is there. */
    Path beginIncoming() throws IOException {
        forget();
        return incoming;
    }

    /** Drops what was received and is not to be the store. */
    void forget() throws IOException {
        delete(incoming);
    }

    /** Makes what was received the store. It is whole, forced and closed; the old store is closed. */
    void install() throws IOException {
        Files.move(incoming, received, StandardCopyOption.ATOMIC_MOVE);
        takeReceived();
    }

    private void takeReceived() throws IOException {
        // Or a power cut could take the name back and leave the deletion.
        force(store.resolveSibling("."));
        delete(store);
        Files.move(received, store, StandardCopyOption.ATOMIC_MOVE);
        force(store.resolveSibling("."));
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> deepestFirst;
        try (Stream<Path> found = Files.walk(folder)) {
            deepestFirst = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : deepestFirst) {
            Files.delete(each);
        }
    }

    /** Writes a file anew, or for the first time, so that it has all of this or, after a crash or a failure, is as before. */
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

    /** Makes the names in a folder durable. */
    static void force(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
