package io.caravan.server.archive.object;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/**
 * Knows whether anybody writes to a folder, by a lock on a file that all processes that do share for as long as they
 * may write. Who comes first, and finds nobody else, may tidy up: what lies half-written there belongs to nobody.
 *
 * <p>Stores of the same folder in one process share one lock, as closing any channel of a file gives up all of the
 * process's locks on it.
 */
final class Writers implements AutoCloseable {
    private static final String FILE_NAME = "~writers";
    /** By real folder; guarded by itself. */
    private static final Map<Path, Writers> HERE = new HashMap<>();

    private final Path folder;
    private final FileChannel channel;
    /** Stores of this process; guarded by {@link #HERE}. */
    private int users;

    /** What the first does. */
    interface Tidying {
        void run() throws IOException;
    }

    private Writers(Path folder, FileChannel channel) {
        this.folder = folder;
        this.channel = channel;
    }

    /** Joins those who write to a folder that is there; tidies first when there are none. */
    static Writers join(Path folder, Tidying tidying) throws IOException {
        Path real = folder.toRealPath();
        synchronized (HERE) {
            Writers writers = HERE.get(real);
            if (writers == null) {
                writers = first(real, tidying);
                HERE.put(real, writers);
            }
            writers.users++;
            return writers;
        }
    }

    @SuppressWarnings("resource") // the channel, and with it the lock, is closed by the last to leave
    private static Writers first(Path folder, Tidying tidying) throws IOException {
        FileChannel channel = FileChannel.open(
                folder.resolve(FILE_NAME),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            try (FileLock alone = channel.tryLock()) {
                if (alone != null) {
                    tidying.run();
                }
            }
            channel.lock(0, Long.MAX_VALUE, true);
            return new Writers(folder, channel);
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (HERE) {
            users--;
            if (users == 0) {
                HERE.remove(folder);
                channel.close();
            }
        }
    }
}
