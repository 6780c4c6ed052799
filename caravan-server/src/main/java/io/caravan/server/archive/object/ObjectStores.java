package io.caravan.server.archive.object;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the place that a URL names: {@code file:DIRECTORY}, absolute or relative, or {@code s3://bucket/prefix}. */
public final class ObjectStores {
    private static final String FILE = "file:";
    private static final Pattern S3 = Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:/(.*))?");

    private ObjectStores() {}

    /**
     * Opens a place for objects. Says nothing of whether it is there: the first call does.
     *
     * @param options for buckets
     * @throws IllegalArgumentException when the URL is none of a place for objects
     * @throws ObjectStoreException when it cannot be opened
     */
    public static ObjectStore open(String url, S3Options options) {
        if (url.startsWith(FILE)) {
            return FileObjectStore.open(directory(url));
        }
        Matcher bucket = bucket(url);
        return S3ObjectStore.open(bucket.group(1), prefix(url, bucket), options);
    }

    /**
     * Checks that a URL can be opened by what it says, and opens nothing.
     *
     * @throws IllegalArgumentException when it is none of a place for objects
     */
    public static void check(String url) {
        if (url.startsWith(FILE)) {
            directory(url);
        } else {
            prefix(url, bucket(url));
        }
    }

    private static Matcher bucket(String url) {
        Matcher bucket = S3.matcher(url);
        if (!bucket.matches()) {
            throw wrong(url, "it is file:DIRECTORY or s3://BUCKET/PREFIX");
        }
        return bucket;
    }

    private static Path directory(String url) {
        String directory = url.substring(FILE.length()).replaceFirst("^//(?=/)", "");
        if (directory.isBlank() || directory.startsWith("//")) {
            throw wrong(url, "it is file: and a directory on this host");
        }
        try {
            return Path.of(directory);
        } catch (InvalidPathException invalid) {
            throw new IllegalArgumentException(
                    "'" + url + "' is no place for an archive: " + invalid.getReason(), invalid);
        }
    }

    /** The prefix with a slash at its end, or empty. */
    private static String prefix(String url, Matcher bucket) {
        String text = bucket.group(2) == null ? "" : bucket.group(2);
        String folder = text.isEmpty() || text.endsWith("/") ? text : text + "/";
        for (String part : folder.isEmpty() ? new String[0] : folder.split("/", -1)) {
            if (part.equals(".") || part.equals("..")) {
                throw wrong(url, "a prefix has no part '" + part + "'");
            }
        }
        if (folder.startsWith("/") || folder.contains("//")) {
            throw wrong(url, "a prefix has no empty parts");
        }
        if (folder.indexOf('?') >= 0 || folder.indexOf('#') >= 0) {
            throw wrong(url, "a prefix has no '?' and no '#'");
        }
        return folder;
    }

    private static IllegalArgumentException wrong(String url, String why) {
        return new IllegalArgumentException("'" + url + "' is no place for an archive: " + why);
    }
}
