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
 * The other hosts that have had entries of the group, by their ids, in a small file. One of these that asks whether it is
 * new has lost its files, and with them what it acknowledged. Thread-safe.
 */
final class SeenHosts {
    private final Path file;
    private final Set<String> ids;

    /** Reads the file in the directory, if it is there. */
    SeenHosts(Path directory) throws IOException {
        this.file = directory.resolve("seen-hosts");
        this.ids = Files.exists(file) ? new TreeSet<>(Files.readAllLines(file)) : new TreeSet<>();
    }

    synchronized boolean has(String id) {
        return ids.contains(id);
    }

    /** These have had entries; durable when this returns. */
    synchronized void add(Collection<String> seen) throws IOException {
        Set<String> all = new TreeSet<>(ids);
        if (all.addAll(seen)) {
            String lines = String.join("\n", all) + "\n";
            Folders.replace(file, ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8)));
            ids.addAll(all);
        }
    }
}
