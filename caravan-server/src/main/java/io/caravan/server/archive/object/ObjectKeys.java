package io.caravan.server.archive.object;

import java.util.regex.Pattern;

/** The syntax of keys; see {@link ObjectStore}. */
final class ObjectKeys {
    private static final String PART = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9!._-]+";
    private static final Pattern KEY = Pattern.compile(PART + "(?:/" + PART + ")*");
    private static final Pattern DIRECTORY = Pattern.compile("(?:" + PART + "/)*");

    private ObjectKeys() {}

    /** Whether the text is a valid key, or a valid part of one. */
    static boolean isKey(String text) {
        return KEY.matcher(text).matches();
    }

    /** Returns the key, or throws an IllegalArgumentException if it is invalid. */
    static String checked(String key) {
        if (!isKey(key)) {
            throw new IllegalArgumentException("'" + key + "' is not a valid object key");
        }
        return key;
    }

    /** Returns the directory, which is empty or parts of a key, each followed by a slash; throws if it is invalid. */
    static String checkedDirectory(String prefix) {
        if (!DIRECTORY.matcher(prefix).matches()) {
            throw new IllegalArgumentException("'" + prefix + "' is not a valid directory of objects");
        }
        return prefix;
    }
}
