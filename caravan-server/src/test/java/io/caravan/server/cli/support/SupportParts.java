package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** The content of a support file. */
public record SupportParts(Map<String, String> parts) {
    public static SupportParts in(Path file) throws IOException {
        Map<String, String> parts = new LinkedHashMap<>();
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(file))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                parts.put(entry.getName(), new String(zip.readAllBytes(), UTF_8));
            }
        }
        return new SupportParts(parts);
    }

    public String part(String name) {
        assertThat(parts).containsKey(name);
        return parts.get(name);
    }

    /** Checks that no entry name, no entry, and no other part of the file contains the marker, ignoring case. */
    public void hasNothingLike(Path file, String marker) throws IOException {
        parts.forEach((name, text) -> {
            assertThat(name).doesNotContainIgnoringCase(marker);
            assertThat(text).as(name).doesNotContainIgnoringCase(marker);
        });
        assertThat(new String(Files.readAllBytes(file), ISO_8859_1)).doesNotContainIgnoringCase(marker);
    }
}
