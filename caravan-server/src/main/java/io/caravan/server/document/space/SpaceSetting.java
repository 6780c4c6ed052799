package io.caravan.server.document.space;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What can be set for a space: each a whole number from 1 on, or one of a few words, which are numbered from 1 on; or not
 * set.
 */
public enum SpaceSetting {
    /** Greatest length of one value, in bytes. */
    VALUE_BYTES("max-value-bytes", Unit.BYTES),
    /** Greatest number of values that a document may hold. */
    DOCUMENT_VALUES("max-values", Unit.COUNT),
    /** Greatest length of all values of a document together, in bytes. */
    DOCUMENT_BYTES("max-bytes", Unit.BYTES),
    /** How many of its newest values a document retains. */
    RETAINED_VALUES("retain-values", Unit.COUNT),
    /** How many bytes of its newest values a document retains. */
    RETAINED_BYTES("retain-bytes", Unit.BYTES),
    /** How long a document retains a value, in seconds. */
    RETAINED_SECONDS("retain-age", Unit.SECONDS),
    /** Greatest number of documents in the space. */
    QUOTA_DOCUMENTS("quota-documents", Unit.COUNT),
    /** Greatest length of all values in the space together, in bytes. */
    QUOTA_BYTES("quota-bytes", Unit.BYTES),
    /** Changes that append or create, in a second. */
    WRITES_PER_SECOND("writes-per-second", Unit.COUNT),
    /** Bytes of values that are appended, in a second. */
    BYTES_PER_SECOND("bytes-per-second", Unit.BYTES),
    /** What has happened to a change before it is answered. */
    DURABILITY("durability", words(Promise.values(), Promise::word)),
    /** How long a change may wait for others to share its flush, in milliseconds. */
    FLUSH_MILLIS("flush-delay", Unit.MILLISECONDS, SpaceSetting.LONGEST_DELAY),
    /** Whether a value is stored with the time at which it came. */
    TIMESTAMPS("timestamps", List.of("on")),
    /** Greatest age of a change that is not archived, in seconds. */
    ARCHIVE_AFTER("archive-after", Unit.SECONDS),
    /** How many of a document's newest generations stay in the archive, whatever their age. */
    ARCHIVE_KEEP("archive-keep", Unit.COUNT, SpaceSetting.MOST_KEPT),
    /** Generations that are not older than so many days stay too. */
    ARCHIVE_KEEP_DAYS("archive-keep-days", Unit.COUNT, SpaceSetting.MOST_KEPT),
    /** For so many days, the newest generation of each day stays too. */
    ARCHIVE_KEEP_DAILY("archive-keep-daily", Unit.COUNT, SpaceSetting.MOST_KEPT);

    /** What unsets any setting. */
    private static final String UNSET = "0";

    /** One minute, as for every write. */
    private static final long LONGEST_DELAY = 60_000;

    /** Greatest value of any setting: the greatest integer that every reader of JSON can count to. */
    public static final long MAX = (1L << 53) - 1;

    /** Generations and days that an archive keeps: more than anybody needs, and few enough to calculate with. */
    private static final long MOST_KEPT = 1_000_000;

    /** What a setting counts, or that it is a word. */
    public enum Unit {
        COUNT,
        BYTES,
        SECONDS,
        MILLISECONDS,
        WORD
    }

    private final String key;
    private final Unit unit;
    private final long max;
    /** By their numbers less 1. */
    private final List<String> words;

    SpaceSetting(String key, Unit unit) {
        this(key, unit, SpaceSetting.MAX);
    }

    SpaceSetting(String key, Unit unit, long max) {
        this.key = key;
        this.unit = unit;
        this.max = max;
        this.words = List.of();
    }

    SpaceSetting(String key, List<String> words) {
        this.key = key;
        this.unit = Unit.WORD;
        this.max = words.size();
        this.words = words;
    }

    private static <T> List<String> words(T[] values, Function<T, String> word) {
        return Arrays.stream(values).map(word).toList();
    }

    /** Its name in both protocols, on the command line and in the store. */
    public String key() {
        return key;
    }

    public Unit unit() {
        return unit;
    }

    /** Greatest value. */
    long max() {
        return max;
    }

    /**
     * The number of a word, of a setting that has words; 0, which unsets the setting, of {@code 0}.
     *
     * @throws IllegalArgumentException when it is none of them
     */
    public long number(String text) {
        int at = words.indexOf(text.toLowerCase(Locale.ROOT));
        if (at < 0 && !text.equals(UNSET)) {
            throw new IllegalArgumentException(
                    key + " must be " + String.join(", ", words) + ", or " + UNSET + " to unset it");
        }
        return at + 1;
    }

    /** A value that is set as it is shown: a word, or a number. */
    Object shown(long value) {
        return unit == Unit.WORD ? words.get((int) value - 1) : (Object) value;
    }

    /** The setting of this name, or null when there is none. */
    static @Nullable SpaceSetting find(String key) {
        return Arrays.stream(values())
                .filter(setting -> setting.key.equals(key))
                .findAny()
                .orElse(null);
    }

    /**
     * The setting of this name.
     *
     * @throws IllegalArgumentException when there is none; the message lists those that there are
     */
    public static SpaceSetting of(String key) {
        SpaceSetting setting = find(key);
        if (setting == null) {
            throw new IllegalArgumentException("a space has no such setting; it has "
                    + Arrays.stream(values()).map(SpaceSetting::key).collect(Collectors.joining(", ")));
        }
        return setting;
    }
}
