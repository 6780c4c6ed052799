package io.caravan.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A working directory that is deleted, with its contents, when it is closed or a signal terminates this JVM. */
public final class WorkDirectory implements AutoCloseable {
    private static final int ATTEMPTS = 100;
    /** Exit status of a process terminated by SIGTERM. */
    private static final int SIGTERM = 128 + 15;

    private final Path path;
    private final Thread hook;

    private WorkDirectory(Path path) {
        this.path = path;
        this.hook = new Thread(this::deleteAtEnd, "delete-work");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Creates the given directory, or a temporary directory if none is given. */
    public static WorkDirectory make(@Nullable Path wanted) throws IOException {
        return new WorkDirectory(
                wanted == null ? Files.createTempDirectory("caravan-bench") : Files.createDirectories(wanted));
    }

    public Path path() {
        return path;
    }

    /**
     * Deletes the directory even if it is in use: kills the child processes that write to it, and moves it aside. A file
     * in its place stops measurements that open their next store, which would create the directory again.
     */
    private void deleteAtEnd() {
        List<ProcessHandle> children = ProcessHandle.current().children().toList();
        children.forEach(ProcessHandle::destroyForcibly);
        children.forEach(child -> child.onExit().join());
        List<Path> aside = new ArrayList<>();
        IOException problem = null;
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                if (Files.isDirectory(path)) {
                    Path next = path.resolveSibling(path.getFileName() + ".deleted" + i);
                    try {
                        aside.add(Files.move(path, next));
                    } catch (IOException immovable) {
                        // The directory is a mount point, or its parent is not writable.
                        WorkDirectories.delete(path);
                    }
                }
                if (Files.notExists(path)) {
                    Files.createFile(path);
                }
                for (Path moved : aside) {
                    WorkDirectories.delete(moved);
                }
                Files.delete(path);
                Runtime.getRuntime().halt(SIGTERM);
            } catch (IOException busy) {
                problem = busy;
            }
        }
        System.err.println("cannot delete " + path + ": " + problem);
        Runtime.getRuntime().halt(SIGTERM);
    }

    @Override
    public void close() throws IOException {
        WorkDirectories.delete(path);
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            // The JVM is already shutting down; the hook has nothing left to delete.
        }
    }
}
