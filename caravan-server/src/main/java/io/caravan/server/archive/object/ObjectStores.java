package io.caravan.server.archive.object;

import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.caravan.server.config.HostPort;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;

/** Finds the object store for a URL: {@code file:DIRECTORY}, absolute or relative, or {@code s3://bucket/prefix}. */
public final class ObjectStores {
    private static final String FILE = "file:";
    private static final Pattern BUCKET = Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:/(.*))?");

    /**
     * The location that a URL names.
     *
     * @param atHand whether the location responds at once: true for a directory
     * @param opener opens the location
     */
    public record Place(boolean atHand, Function<S3Options, ObjectStore> opener) {

        /**
         * Opens the location. Only the first call to the store determines whether the location exists.
         *
         * @param options the options for a bucket
         * @throws ObjectStoreException when it cannot be opened
         */
        public ObjectStore open(S3Options options) {
            return opener.apply(options);
        }
    }

    private ObjectStores() {}

    /**
     * Returns the location that a URL names, without opening it.
     *
     * @throws IllegalArgumentException when the URL names no location
     */
    public static Place place(String url) {
        if (url.startsWith(FILE)) {
            return directory(url);
        }
        Matcher bucket = BUCKET.matcher(url);
        if (bucket.matches()) {
            String prefix = prefix(url, bucket.group(2) == null ? "" : bucket.group(2));
            // The AWS SDK finds the credentials in the environment, the profiles, or the role.
            return new Place(
                    false,
                    options -> S3ObjectStore.open(
                            bucket.group(1),
                            prefix,
                            options,
                            DefaultCredentialsProvider.builder().build(),
                            S3Timeouts.DEFAULT,
                            S3Parts.DEFAULT));
        }
        throw wrong(url, "it is file:DIRECTORY or s3://BUCKET/PREFIX", null);
    }

    /** Returns the canonical form of a location's URL. Returns any other text unchanged. */
    public static String canonical(String url) {
        if (url.startsWith(FILE)) {
            return FILE + Path.of(path(url)).toAbsolutePath().normalize();
        }
        return url.startsWith("s3:") && url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    private static String path(String url) {
        return url.replaceFirst("^file:(//(?=/))?", "");
    }

    private static Place directory(String url) {
        String directory = path(url);
        if (directory.isBlank() || directory.startsWith("//")) {
            throw wrong(url, "expected file: and a directory on this node", null);
        }
        try {
            Path path = Path.of(directory);
            return new Place(true, options -> FileObjectStore.open(path));
        } catch (InvalidPathException invalid) {
            throw wrong(url, invalid.getReason(), invalid);
        }
    }

    /** Returns a bucket's key prefix with a trailing slash; empty if there is none. */
    private static String prefix(String url, String text) {
        String prefix = text.isEmpty() || text.endsWith("/") ? text : text + "/";
        for (String part : prefix.split("/", -1)) {
            if (part.equals(".") || part.equals("..")) {
                throw wrong(url, "a prefix has no part '" + part + "'", null);
            }
        }
        if (prefix.startsWith("/") || prefix.contains("//")) {
            throw wrong(url, "a prefix has no empty parts", null);
        }
        if (prefix.indexOf('?') >= 0 || prefix.indexOf('#') >= 0) {
            throw wrong(url, "a prefix has no '?' and no '#'", null);
        }
        return prefix;
    }

    private static IllegalArgumentException wrong(String url, String why, @Nullable Throwable cause) {
        return new IllegalArgumentException(
                "'" + HostPort.withoutUser(url) + "' is not a valid archive location: " + why, cause);
    }
}
