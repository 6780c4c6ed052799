package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.caravan.server.config.Version;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** The file with diagnostics: its parts, which stay in memory until they are written, and the missing data. */
final class SupportFile {
    static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    private static final String INTRODUCTION = """
            Diagnostics collected by 'caravan support'. They contain no names or values of documents, and no secrets:
            each number and word is on an allow list, and (hidden) replaces the others. They contain paths, and names of
            settings. Check them before you send them.

            Created at %s by caravan %s

            """;

    private final Instant at;
    private final List<Part> parts = new ArrayList<>();
    private final List<Missing> missing = new ArrayList<>();

    /** A file in the ZIP file, and a description of its contents. */
    record Part(String name, String about, @JsonIgnore byte[] contents) {
        @JsonProperty
        int bytes() {
            return contents.length;
        }
    }

    /** Unavailable data, and the reason in this program's words, because a message may contain names. */
    record Missing(String name, String why) {}

    SupportFile(Instant at) {
        this.at = at;
    }

    void json(String name, String about, Object value) {
        try {
            parts.add(new Part(name, about, JSON.writeValueAsBytes(value)));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("cannot be written as JSON: " + value.getClass(), impossible);
        }
    }

    /** Parses JSON. Throws {@link IOException} if the text is not JSON; the message does not quote it. */
    static JsonNode parse(String text) throws IOException {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException wrong) {
            throw new IOException("it is not JSON", wrong);
        }
    }

    void text(String name, String about, String text) {
        parts.add(new Part(name, about, text.getBytes(UTF_8)));
    }

    void missing(String name, String why) {
        missing.add(new Missing(name, why));
    }

    List<Part> parts() {
        return parts;
    }

    List<Missing> missing() {
        return missing;
    }

    /** Creates an empty file that only this user can read, before data is collected, to find a name conflict early. */
    static OutputStream create(Path file) throws IOException {
        FileAttribute<?>[] onlyOwner =
                file.getFileSystem().supportedFileAttributeViews().contains("posix")
                        ? new FileAttribute<?>[] {
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                        }
                        : new FileAttribute<?>[0];
        return Channels.newOutputStream(
                Files.newByteChannel(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), onlyOwner));
    }

    /** Writes all parts, starting with the table of contents, and closes the stream. */
    void write(OutputStream to) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(to)) {
            put(zip, "README.txt", readme().getBytes(UTF_8));
            for (Part part : parts) {
                put(zip, part.name(), part.contents());
            }
        }
    }

    private void put(ZipOutputStream zip, String name, byte[] contents) throws IOException {
        ZipEntry entry = new ZipEntry(name);
        entry.setTime(at.toEpochMilli());
        zip.putNextEntry(entry);
        zip.write(contents);
        zip.closeEntry();
    }

    private String readme() {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, INTRODUCTION, at, Version.current()));
        parts.forEach(part ->
                text.append(part.name()).append("\n    ").append(part.about()).append('\n'));
        if (!missing.isEmpty()) {
            text.append("\nNot available:\n");
            missing.forEach(each ->
                    text.append(each.name()).append("\n    ").append(each.why()).append('\n'));
        }
        return text.toString();
    }
}
