package io.caravan.server.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads files that users name, and describes problems with such files. Java's own messages consist of class names, or
 * omit the name of the file.
 */
public final class UserFiles {
    private UserFiles() {}

    /** Opens a file for reading. Java would open a directory too, and fail later without its name. */
    public static InputStream open(Path file) throws IOException {
        requireFile(file);
        return Files.newInputStream(file);
    }

    /** Opens a file for reading as text in UTF-8; reading throws {@link CharacterCodingException} if it is not. */
    public static BufferedReader reader(Path file) throws IOException {
        requireFile(file);
        return Files.newBufferedReader(file);
    }

    /** Returns the size of a file in bytes. */
    public static long size(Path file) throws IOException {
        requireFile(file);
        return Files.size(file);
    }

    private static void requireFile(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new FileSystemException(file.toString(), null, "it is a directory");
        }
    }

    /** Returns the content of a short file, which must be text in UTF-8. */
    public static String text(Path file) throws IOException {
        try (InputStream in = open(file)) {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(in.readAllBytes())).toString();
        } catch (CharacterCodingException notText) {
            throw notText(file, notText);
        }
    }

    /** Returns the exception for a file that is not text in UTF-8. */
    public static IOException notText(Path file, CharacterCodingException cause) {
        return new IOException(file + " is not text in UTF-8", cause);
    }

    /** Describes the failure of an operation on a file. */
    public static String problem(IOException failure) {
        if (!(failure instanceof FileSystemException failed) || failed.getFile() == null) {
            return String.valueOf(failure.getMessage());
        }
        String file = failed.getFile();
        if (failure instanceof NoSuchFileException) {
            Path directory = Path.of(file).toAbsolutePath().getParent();
            return directory == null || Files.isDirectory(directory)
                    ? "there is no file '" + file + "'"
                    : "there is no directory '" + directory + "' for '" + file + "'";
        }
        return "the file '" + file + "' cannot be read or written: " + reason(failed);
    }

    private static @Nullable String reason(FileSystemException failed) {
        if (failed.getReason() != null) {
            return failed.getReason();
        }
        if (failed instanceof AccessDeniedException) {
            return "this user lacks the permission";
        }
        if (failed instanceof FileAlreadyExistsException) {
            return "it exists already";
        }
        return failed instanceof NotDirectoryException
                ? "it is not a directory"
                : failed.getClass().getSimpleName();
    }
}
