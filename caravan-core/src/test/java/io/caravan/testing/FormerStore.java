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
    private FormerStore() {}

    public static DirectoryImage of(String directory) throws IOException {
        return read("/io/caravan/version-3.zip", directory + "/");
    }

    /** Returns the files of a ZIP resource whose names have this prefix, under their names without the prefix. */
    public static DirectoryImage read(String zipFile, String prefix) throws IOException {
        SortedMap<String, byte[]> files = new TreeMap<>();
        try (InputStream archive = Objects.requireNonNull(FormerStore.class.getResourceAsStream(zipFile));
                ZipInputStream zip = new ZipInputStream(archive)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                String name = entry.getName();
                if (name.startsWith(prefix) && !entry.isDirectory()) {
                    files.put(name.substring(prefix.length()), zip.readAllBytes());
                }
            }
        }
        return new DirectoryImage(files);
    }
}
