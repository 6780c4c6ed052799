package io.caravan.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/**
 * The ids of the other nodes that have received entries of the group, kept in a small file. If one of these nodes
 * starts as a new node, it has lost its files, including writes that it acknowledged. Thread-safe.
 */
final class SeenNodes {
    private final Path file;
    private final Set<String> ids;

    /** Reads the file in the directory, if it exists. */
    SeenNodes(Path directory) throws IOException {
        this.file = directory.resolve("seen-hosts");
        this.ids = Files.exists(file) ? new TreeSet<>(Files.readAllLines(file)) : new TreeSet<>();
    }

    synchronized boolean has(String id) {
        return ids.contains(id);
    }

    /** Adds nodes that have received entries. The addition is durable when this returns. */
    synchronized void add(Collection<String> seen) throws IOException {
        Set<String> all = new TreeSet<>(ids);
        if (all.addAll(seen)) {
            String lines = String.join("\n", all) + "\n";
            StoreDirectories.replace(file, ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8)));
            ids.addAll(all);
        }
    }
}
