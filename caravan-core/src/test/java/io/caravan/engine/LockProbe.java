package io.caravan.engine;

import io.caravan.DurableListStore;
import io.caravan.StoreLockedException;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Another process that opens a store. It exits with a code for the result, or holds the store until it is ended. */
final class LockProbe {
    static final int OPENED = 10;
    static final int LOCKED = 11;
    static final int SOMETHING_ELSE = 12;

    private LockProbe() {}

    /** Takes the directory and, if the probe must hold the store, a file to create once it does. */
    public static void main(String[] arguments) throws IOException {
        try (DurableListStore store = open(Path.of(arguments[0]))) {
            if (arguments.length > 1) {
                Files.createFile(Path.of(arguments[1]));
                // Ends when the parent closes the pipe or kills this process.
                while (System.in.read() >= 0) {
                    store.flush();
                }
            }
            System.exit(OPENED);
        } catch (StoreLockedException locked) {
            System.exit(LOCKED);
        } catch (RuntimeException failed) {
            System.exit(SOMETHING_ELSE);
        }
    }

    static DurableListStore open(Path directory) {
        return DurableListStore.open(SmallStore.config(directory).build());
    }

    static ChildJvm start(Path log, Path... arguments) throws IOException {
        return ChildJvm.start(
                LockProbe.class.getName(),
                Stream.of(arguments).map(Path::toString).toList(),
                log);
    }
}
