package io.caravan.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A directory to work in, which is gone with all that is in it when it is closed, or a signal ends this JVM. */
public final class WorkDirectory implements AutoCloseable {
    private static final int ATTEMPTS = 100;

    private final Path path;
    private final Thread hook;

    private WorkDirectory(Path path) {
        this.path = path;
        this.hook = new Thread(this::deleteAtEnd, "delete-work");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Makes a directory: the one that is asked for, or a temporary one. */
    public static WorkDirectory make(@Nullable Path wanted) throws IOException {
        return new WorkDirectory(
                wanted == null ? Files.createTempDirectory("caravan-bench") : Files.createDirectories(wanted));
    }

    public Path path() {
        return path;
    }

    /**
     * Deletes it though it may be in use: children that write into it are killed first, and when this JVM's own threads
     * make something meanwhile, it is tried again.
     */
    private void deleteAtEnd() {
        List<ProcessHandle> children = ProcessHandle.current().children().toList();
        children.forEach(ProcessHandle::destroyForcibly);
        children.forEach(child -> child.onExit().join());
        IOException problem = null;
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                Directories.delete(path);
                return;
            } catch (IOException busy) {
                problem = busy;
            }
        }
        System.err.println("cannot delete " + path + ": " + problem);
    }

    @Override
    public void close() throws IOException {
        Directories.delete(path);
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // The hook finds nothing left.
        }
    }
}
