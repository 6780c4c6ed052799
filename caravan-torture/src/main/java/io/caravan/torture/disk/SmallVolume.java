package io.caravan.torture.disk;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A small mounted file system that can be filled to the last byte and then emptied again. It is unmounted on close, or
 * when this process exits.
 */
public final class SmallVolume implements AutoCloseable {
    private static final int MEGABYTES = 48;
    private static final byte[] CHUNK = new byte[4096];
    private static final long TIMEOUT_SECONDS = 30;
    /** The text of the operating system's error when a disk is full. */
    private static final String NO_SPACE = "No space left";

    private final Path directory;
    private final Path filler;
    private final Thread unmountAtExit = new Thread(this::unmountAnyhow, "unmount");

    /** Thrown if this machine or user cannot mount file systems. */
    public static final class NotPossibleException extends IOException {
        private static final long serialVersionUID = 1L;

        private NotPossibleException(String why) {
            super(why);
        }
    }

    private SmallVolume(Path directory) {
        this.directory = directory;
        filler = directory.resolve("filler");
    }

    /**
     * Mounts a volume in the directory: in memory or, if that is impossible, in a file.
     *
     * @param parent the directory in which the mount point {@code volume} is created
     * @throws NotPossibleException if this is impossible, with the reason
     */
    public static SmallVolume mount(Path parent) throws IOException {
        Path directory = Files.createDirectories(parent.resolve("volume"));
        List<String> inMemory = List.of(
                "mount",
                "-t",
                "tmpfs",
                "-o",
                "size=" + MEGABYTES + "m,mode=700",
                "caravan-torture",
                directory.toString());
        try {
            run(inMemory);
            return mounted(directory);
        } catch (IOException rejected) {
            return mount(parent, "ext4", MEGABYTES, rejected.getMessage() + "; ");
        }
    }

    /**
     * Mounts a file system of this type and size, kept in a file in the directory.
     *
     * @param parent the directory in which the mount point {@code volume} is created
     * @param type type of the file system: {@code ext4} or {@code xfs}
     * @throws NotPossibleException if this is impossible, with the reason
     */
    public static SmallVolume mount(Path parent, String type, int megabytes) throws IOException {
        return mount(parent, type, megabytes, "");
    }

    private static SmallVolume mount(Path parent, String type, int megabytes, String before) throws IOException {
        Path directory = Files.createDirectories(parent.resolve("volume"));
        try {
            mountFile(parent.resolve("volume.image"), directory, type, megabytes);
        } catch (IOException rejected) {
            throw new NotPossibleException("cannot mount an " + type + " file system here, which needs root: " + before
                    + rejected.getMessage());
        }
        return mounted(directory);
    }

    private static SmallVolume mounted(Path directory) {
        SmallVolume volume = new SmallVolume(directory);
        Runtime.getRuntime().addShutdownHook(volume.unmountAtExit);
        return volume;
    }

    private static void mountFile(Path image, Path directory, String type, int megabytes) throws IOException {
        try {
            run(List.of("truncate", "-s", megabytes + "M", image.toString()));
            run(List.of("mkfs." + type, "-q", type.equals("xfs") ? "-f" : "-F", image.toString()));
            run(List.of("mount", "-o", "loop", image.toString(), directory.toString()));
        } catch (IOException rejected) {
            Files.deleteIfExists(image);
            throw rejected;
        }
    }

    /**
     * Runs a command of the operating system.
     *
     * @throws IOException if the command fails, with the first line of its output
     */
    public static void run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        try {
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException(
                        output.lines().findFirst().orElse(String.join(" ", command) + " failed without a message"));
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for: " + String.join(" ", command), interrupted);
        }
    }

    public Path directory() {
        return directory;
    }

    /** Fills all remaining space on the volume. */
    public void fill() throws IOException {
        try (OutputStream out = Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            for (int left = MEGABYTES << 20; left > 0; left -= CHUNK.length) {
                out.write(CHUNK);
            }
        } catch (IOException problem) {
            if (!String.valueOf(problem.getMessage()).contains(NO_SPACE)) {
                throw problem;
            }
        }
    }

    /** Frees the space that {@link #fill()} has taken. */
    public void free() throws IOException {
        Files.deleteIfExists(filler);
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(unmountAtExit);
        unmountAnyhow();
    }

    /**
     * Unmounts the volume now, or when its last file is closed, because a process that was just killed may still have
     * files open on it.
     */
    private void unmountAnyhow() {
        List<String> problems = new ArrayList<>();
        for (List<String> command :
                List.of(List.of("umount", directory.toString()), List.of("umount", "-l", directory.toString()))) {
            try {
                run(command);
                return;
            } catch (IOException rejected) {
                problems.add(rejected.getMessage());
            }
        }
        System.err.println("torture: " + directory + " stays mounted: " + String.join("; ", problems));
    }
}
