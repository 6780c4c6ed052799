package io.caravan.server.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/**
 * Reads files that users name. Exceptions name the file; see {@link io.caravan.io.FileStorage#problem}.
 */
public final class UserFiles {
    private static final long MAX_PROPERTIES_BYTES = 1024 * 1024;

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

    /** Reads a file in the Java properties format: the values by name, in their order. Each name occurs only once. */
    public static Map<String, String> properties(Path file) throws IOException {
        if (size(file) > MAX_PROPERTIES_BYTES) {
            throw new IOException(file + " is longer than 1 MiB");
        }
        Once once = new Once();
        try {
            once.load(new StringReader(text(file)));
        } catch (IllegalArgumentException wrong) {
            throw new IOException(file + ": " + wrong.getMessage(), wrong);
        }
        return once.values;
    }

    /** Properties that reject a second value for a name, which {@link Properties} would accept silently. */
    private static final class Once extends Properties {
        private static final long serialVersionUID = 1L;

        private final transient Map<String, String> values = new LinkedHashMap<>();

        /** Adds a property. The error message omits the name, which may be a secret on a line of its own. */
        @Override
        public synchronized Object put(Object name, Object value) {
            if (values.put((String) name, ((String) value).strip()) != null) {
                throw new IllegalArgumentException("entry " + (values.size() + 1) + " has the name of one before it");
            }
            return value;
        }
    }
}
