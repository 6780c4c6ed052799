package io.caravan.server.archive.object;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * Where files are written before they are moved to their places whole: a directory beside them, whose name no key has.
 * What a killed process left there is removed when the next one begins to write and no other does.
 */
final class Staging implements AutoCloseable {
    private static final String DIRECTORY = "~tmp";
    /** The same name for a file system that does not tell capital letters from small ones. */
    private static final String IN_CAPITALS = "~TMP";

    private static final int BUFFER_BYTES = 64 * 1024;

    private final Path directory;
    private final Writers writers;

    private Staging(Path directory, Writers writers) {
        this.directory = directory;
        this.writers = writers;
    }

    /** Begins to write to a folder, which is created when it is missing. */
    static Staging begin(Path folder) throws IOException {
        Path directory = folder.resolve(DIRECTORY);
        Directories.createDurably(directory);
        refuseIfCaseIsIgnored(folder);
        return new Staging(directory, Writers.join(folder, () -> removeAll(directory)));
    }

    /**
     * Throws for a folder that has been written to whose file system takes {@code A} for {@code a}: different documents
     * would get the same file.
     */
    static void refuseIfCaseIsIgnored(Path folder) throws IOException {
        if (Files.exists(folder.resolve(DIRECTORY)) && Files.exists(folder.resolve(IN_CAPITALS))) {
            throw new CaseIgnoredException(folder.toString());
        }
    }

    private static void removeAll(Path directory) throws IOException {
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(directory)) {
            for (Path leftover : leftovers) {
                Files.deleteIfExists(leftover);
            }
        }
    }

    /** Writes a file, durably. Close it in any case: what has not been moved is then removed. */
    Staged stage(ObjectStore.Content content) throws IOException {
        Staged staged = new Staged(directory.resolve(UUID.randomUUID().toString()));
        try {
            staged.write(content);
            return staged;
        } catch (IOException | RuntimeException | Error failed) {
            closeAfter(failed, staged);
            throw failed;
        }
    }

    private static void closeAfter(Throwable failed, Staged staged) {
        try {
            staged.close();
        } catch (IOException also) {
            failed.addSuppressed(also);
        }
    }

    @Override
    public void close() throws IOException {
        writers.close();
    }

    /** A file that is whole and durable, and has no name yet that means anything. */
    static final class Staged implements AutoCloseable {
        private final Path file;

        private Staged(Path file) {
            this.file = file;
        }

        private void write(ObjectStore.Content content) throws IOException {
            try (FileChannel channel =
                    FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
                content.writeTo(out);
                out.flush();
                channel.force(true);
            }
        }

        /** Gives it its name; durable only when the directories above it are forced. */
        void moveTo(Path place) throws IOException {
            Directories.move(file, place);
        }

        @Override
        public void close() throws IOException {
            Files.deleteIfExists(file);
        }
    }

    /** The file system does not tell capital letters from small ones. */
    static final class CaseIgnoredException extends IOException {
        private static final long serialVersionUID = 1L;

        CaseIgnoredException(String folder) {
            super("the file system of " + folder + " does not tell capital letters from small ones, so documents would"
                    + " overwrite each other: choose a folder on one that does");
        }
    }
}
