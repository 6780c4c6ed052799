package io.caravan.server.document;

import java.util.Locale;

/** Compares content types by media type, ignoring parameters and case. */
public final class ContentTypes {
    private static final String JSON = "application/json";

    private ContentTypes() {}

    public static String mediaType(String contentType) {
        int parameters = contentType.indexOf(';');
        String type = parameters < 0 ? contentType : contentType.substring(0, parameters);
        return type.strip().toLowerCase(Locale.ROOT);
    }

    public static boolean same(String one, String other) {
        return one.equals(other) || mediaType(one).equals(mediaType(other));
    }

    public static boolean isJson(String contentType) {
        return mediaType(contentType).equals(JSON);
    }

    /** Whether values of this type are text that can be sent unchanged: JSON or {@code text/*}. */
    public static boolean isText(String contentType) {
        return isJson(contentType) || mediaType(contentType).startsWith("text/");
    }
}
