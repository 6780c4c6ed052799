package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.object.Digests;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The keys of an archive's objects.
 *
 * <pre>
 *   archive.json                                              the root
 *   manifests/NAME                                            the manifest of a document name
 *   snapshots/NAME/GENERATION-NEXT-EPOCH-ATTEMPT              one snapshot of it
 * </pre>
 *
 * <p>{@code NAME} is the document's name in which {@code !} and two hexadecimal digits replace every byte other than
 * {@code A-Z a-z 0-9 - _}. A form of more than {@value #MAX_NAME_CHARS} characters is cut to its first {@value
 * #KEPT_CHARS}, followed by {@code !} and the 64 digits of the name's SHA-256. Such a form is longer than any other, so
 * no two names share one.
 *
 * <p>The numbers have 16 hexadecimal digits, and the attempt has 8. The keys of a document's snapshots therefore sort
 * by generation.
 */
public final class ArchiveKeys {
    public static final String ROOT = "archive.json";
    public static final String MANIFESTS = "manifests/";
    /** The directory that contains the snapshot directory of each document name. */
    public static final String SNAPSHOTS = "snapshots/";

    /** Maximum number of characters in an encoded name that is not truncated. */
    public static final int MAX_NAME_CHARS = 160;
    /** The number of characters to which a longer encoded name is truncated before its hash is added. */
    public static final int KEPT_CHARS = 96;

    private static final String ESCAPE = "!";
    private static final Pattern ESCAPED = Pattern.compile("[^A-Za-z0-9_-]");
    private static final Pattern ESCAPE_SEQUENCE = Pattern.compile(ESCAPE + "([0-9a-f]{2})");
    private static final HexFormat HEX = HexFormat.of();
    private static final String NUMBER = "([0-7][0-9a-f]{15})";
    private static final Pattern SNAPSHOT =
            Pattern.compile(SNAPSHOTS + "[A-Za-z0-9_!-]+/" + NUMBER + "-" + NUMBER + "-" + NUMBER + "-[0-9a-f]{8}");

    private ArchiveKeys() {}

    /**
     * The numbers in a snapshot's key.
     *
     * @param generation number of the snapshot
     * @param nextSequence sequence of the document's next value
     * @param epoch number of the archive's owner that wrote the snapshot
     */
    public record SnapshotKey(long generation, long nextSequence, long epoch) {}

    public static String manifest(DocumentName name) {
        return MANIFESTS + encode(name);
    }

    /** Returns the directory of a document's snapshots, with a trailing slash. */
    public static String snapshots(DocumentName name) {
        return SNAPSHOTS + encode(name) + "/";
    }

    /**
     * Returns the key of a snapshot.
     *
     * @param attempt a random number, so that every key is used only once; may be negative
     * @throws IllegalArgumentException when another number is below 0
     */
    public static String snapshot(DocumentName name, long generation, long nextSequence, long epoch, int attempt) {
        return snapshots(name)
                + String.join("-", number(generation), number(nextSequence), number(epoch), HEX.toHexDigits(attempt));
    }

    private static String number(long number) {
        if (number < 0) {
            throw new IllegalArgumentException("the number of a snapshot must not be negative: " + number);
        }
        return HEX.toHexDigits(number);
    }

    /** Returns the numbers in a snapshot's key, or null for any other key. */
    public static @Nullable SnapshotKey parseSnapshot(String key) {
        Matcher parts = SNAPSHOT.matcher(key);
        return parts.matches()
                ? new SnapshotKey(
                        HexFormat.fromHexDigitsToLong(parts.group(1)),
                        HexFormat.fromHexDigitsToLong(parts.group(2)),
                        HexFormat.fromHexDigitsToLong(parts.group(3)))
                : null;
    }

    /** Encodes a document name for use in keys. */
    public static String encode(DocumentName name) {
        byte[] bytes = name.toBytes();
        String form = ESCAPED.matcher(new String(bytes, ISO_8859_1))
                .replaceAll(character ->
                        ESCAPE + HEX.toHexDigits((byte) character.group().charAt(0)));
        return form.length() <= MAX_NAME_CHARS
                ? form
                : form.substring(0, KEPT_CHARS)
                        + ESCAPE
                        + Digests.hex(Digests.sha256().digest(bytes));
    }

    /** Decodes a document name from its form in keys; returns null if the form was truncated or is invalid. */
    public static @Nullable DocumentName decode(String form) {
        if (form.isEmpty() || form.length() > MAX_NAME_CHARS) {
            return null;
        }
        String bytes = ESCAPE_SEQUENCE
                .matcher(form)
                .replaceAll(escape ->
                        Matcher.quoteReplacement(String.valueOf((char) HexFormat.fromHexDigits(escape.group(1)))));
        DocumentName name = DocumentName.of(bytes.getBytes(ISO_8859_1));
        return encode(name).equals(form) ? name : null;
    }
}
