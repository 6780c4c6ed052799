package io.caravan.server.archive.object;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the object store for a URL: {@code file:DIRECTORY}, absolute or relative, or {@code s3://bucket/prefix}. */
public final class ObjectStores {
    private static final Pattern BUCKET = Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:/(.*))?");

    /** The kinds of locations. This is the only place where a new kind of {@link ObjectStore} is registered. */
    private enum Scheme {
        FILE("file:DIRECTORY", ObjectStores::directory),
        S3("s3://BUCKET/PREFIX", ObjectStores::bucket);

        private final String form;
        private final Function<String, Place> parser;

        Scheme(String form, Function<String, Place> parser) {
            this.form = form;
            this.parser = parser;
        }

        boolean isOf(String url) {
            return url.startsWith(form.substring(0, form.indexOf(':') + 1));
        }
    }

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
        return Stream.of(Scheme.values())
                .filter(scheme -> scheme.isOf(url))
                .findFirst()
                .orElseThrow(() -> unknown(url))
                .parser
                .apply(url);
    }

    /** Returns the canonical form of a location's URL. Returns any other text unchanged. */
    public static String canonical(String url) {
        if (Scheme.FILE.isOf(url)) {
            return "file:" + Path.of(path(url)).toAbsolutePath().normalize();
        }
        return Scheme.S3.isOf(url) && url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
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

    private static Place bucket(String url) {
        Matcher parts = BUCKET.matcher(url);
        if (!parts.matches()) {
            throw unknown(url);
        }
        String bucket = parts.group(1);
        String prefix = prefix(url, parts.group(2) == null ? "" : parts.group(2));
        return new Place(false, options -> S3ObjectStore.open(bucket, prefix, options));
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

    private static IllegalArgumentException unknown(String url) {
        String forms = Stream.of(Scheme.values()).map(scheme -> scheme.form).collect(Collectors.joining(" or "));
        return wrong(url, "it is " + forms, null);
    }

    private static IllegalArgumentException wrong(String url, String why, @Nullable Throwable cause) {
        return new IllegalArgumentException("'" + url + "' is not a valid archive location: " + why, cause);
    }
}
