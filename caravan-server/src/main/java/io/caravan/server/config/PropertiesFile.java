package io.caravan.server.config;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/** Reads files in the Java properties format, encoded in UTF-8, in which each name occurs only once. */
public final class PropertiesFile {
    private static final long MAX_BYTES = 1024 * 1024;

    private PropertiesFile() {}

    /** Reads the values by name, in the order of the file. The message about an invalid file contains its name. */
    public static Map<String, String> read(Path file) throws IOException {
        Once once = new Once();
        try {
            if (UserFiles.size(file) > MAX_BYTES) {
                throw new IOException(file + " is longer than 1 MiB");
            }
            try (Reader reader = UserFiles.reader(file)) {
                once.load(reader);
            }
        } catch (NoSuchFileException missing) {
            throw new IOException("there is no file " + file, missing);
        } catch (AccessDeniedException denied) {
            throw new IOException(file + " may not be read by this process", denied);
        } catch (CharacterCodingException notText) {
            throw UserFiles.notText(file, notText);
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
