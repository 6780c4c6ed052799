package io.caravan.server.archive.object;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** An in-memory file system of a few MiB. Skips the test if the file system cannot be mounted. */
final class SmallFileSystem implements AutoCloseable {
    private final Path directory;

    private SmallFileSystem(Path directory) {
        this.directory = directory;
    }

    static SmallFileSystem mount(Path directory, int mebibytes) throws IOException, InterruptedException {
        String[] command = {"mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "tmpfs", directory.toString()};
        Process mount = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(mount.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assumeTrue(mount.waitFor() == 0, "no small file system can be mounted: " + said);
        return new SmallFileSystem(directory);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        Process unmount = new ProcessBuilder("umount", directory.toString()).start();
        if (unmount.waitFor() != 0) {
            throw new IOException(directory + " could not be unmounted");
        }
    }
}
