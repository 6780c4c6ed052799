package io.caravan.testing;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The files of a {@link SmallStore}, written by the last build with version 3 of the format: {@code open} after a kill,
 * {@code closed} after a clean close.
 */
public final class FormerStore {
    private static final String ARCHIVE = "/io/caravan/version-3.zip";

    private FormerStore() {}

    public static DirectoryImage of(String folder) throws IOException {
        SortedMap<String, byte[]> files = new TreeMap<>();
        try (InputStream archive = Objects.requireNonNull(FormerStore.class.getResourceAsStream(ARCHIVE));
                ZipInputStream zip = new ZipInputStream(archive)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                String name = entry.getName();
                if (name.startsWith(folder + "/") && !entry.isDirectory()) {
                    files.put(name.substring(folder.length() + 1), zip.readAllBytes());
                }
            }
        }
        return new DirectoryImage(files);
    }
}
