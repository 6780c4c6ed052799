package io.caravan.torture.embedded;

import io.caravan.StoreConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Runs a child process with a {@link ToyStore}, whose fault is named in a file next to the store. */
final class ToyChild {
    private static final String FILE = "lie";

    private ToyChild() {}

    /** Sets the fault of all child processes whose stores are in this directory. */
    static void lie(Path directory, ToyStore.Lie lie) throws IOException {
        Files.writeString(directory.resolve(FILE), lie.name());
    }

    public static void main(String[] arguments) throws IOException {
        TortureChild.run(arguments, ToyChild::open);
    }

    private static ToyStore open(StoreConfig config) {
        try {
            Path file = config.directory().resolveSibling(FILE);
            return new ToyStore(config.directory(), ToyStore.Lie.valueOf(Files.readString(file)));
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }
}
