package io.caravan.server.document.space;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The settings that a space can have. A setting is unset, an integer of at least 1, or one of a few words, which are
 * numbered from 1.
 */
public enum SpaceSetting {
    /** Maximum length of one value, in bytes. */
    VALUE_BYTES("max-value-bytes", Unit.BYTES),
    /** Maximum number of values in a document. */
    DOCUMENT_VALUES("max-values", Unit.COUNT),
    /** Maximum total length of all values in a document, in bytes. */
    DOCUMENT_BYTES("max-bytes", Unit.BYTES),
    /** Number of values that a document retains, counted from the newest. */
    RETAINED_VALUES("retain-values", Unit.COUNT),
    /** Total length of the values that a document retains, counted from the newest, in bytes. */
    RETAINED_BYTES("retain-bytes", Unit.BYTES),
    /** Time for which a document retains a value, in seconds. */
    RETAINED_SECONDS("retain-age", Unit.SECONDS),
    /** Maximum number of documents in the space. */
    QUOTA_DOCUMENTS("quota-documents", Unit.COUNT),
    /** Maximum total length of all values in the space, in bytes. */
    QUOTA_BYTES("quota-bytes", Unit.BYTES),
    /** Maximum number per second of writes to documents that append values or create the document. */
    WRITES_PER_SECOND("writes-per-second", Unit.COUNT),
    /** Maximum number of bytes that writes append per second. */
    BYTES_PER_SECOND("bytes-per-second", Unit.BYTES),
    /** Durability of an acknowledged write. */
    DURABILITY("durability", words(DocumentDurability.values(), DocumentDurability::word)),
    /** Maximum time for which a write waits for other writes to share its flush, in milliseconds. */
    FLUSH_MILLIS("flush-delay", Unit.MILLISECONDS, SpaceSetting.LONGEST_DELAY),
    /** Whether a value is stored with its arrival time. */
    TIMESTAMPS("timestamps", List.of("on")),
    /** Maximum age that a write may reach before it is archived, in seconds. */
    ARCHIVE_AFTER("archive-after", Unit.SECONDS),
    /** Number of generations of a document, counted from the newest, that the archive keeps regardless of their age. */
    ARCHIVE_KEEP("archive-keep", Unit.COUNT, SpaceSetting.MOST_KEPT),
    /** Number of days for which the archive keeps all generations, in addition to {@link #ARCHIVE_KEEP}. */
    ARCHIVE_KEEP_DAYS("archive-keep-days", Unit.COUNT, SpaceSetting.MOST_KEPT),
    /** Number of days for which the archive also keeps each day's newest generation. */
    ARCHIVE_KEEP_DAILY("archive-keep-daily", Unit.COUNT, SpaceSetting.MOST_KEPT);

    /** The text that clears a setting. */
    private static final String UNSET = "0";

    /** Maximum flush delay in milliseconds: one minute, which is also the maximum for writes outside spaces. */
    private static final long LONGEST_DELAY = 60_000;

    /** Maximum value of any setting: the greatest integer that every JSON reader represents exactly. */
    public static final long MAX = (1L << 53) - 1;

    /** Maximum number of generations or days in a setting for the archive, so that no calculation overflows. */
    private static final long MOST_KEPT = 1_000_000;

    /** The unit of a setting; {@code WORD} if the values are words. */
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
    /** The words that the setting accepts; the first word has the number 1. */
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

    /** Returns the name of this setting in both protocols, on the command line, and in the store. */
    public String key() {
        return key;
    }

    public Unit unit() {
        return unit;
    }

    long max() {
        return max;
    }

    /**
     * Returns the number of a word, for a setting whose values are words; 0 for {@code "0"}, which clears the setting.
     *
     * @throws IllegalArgumentException when the text is neither a word of this setting nor {@code "0"}
     */
    public long number(String text) {
        int at = words.indexOf(text.toLowerCase(Locale.ROOT));
        if (at < 0 && !text.equals(UNSET)) {
            throw new IllegalArgumentException(
                    key + " must be " + String.join(", ", words) + ", or " + UNSET + " to unset it");
        }
        return at + 1;
    }

    /** Returns a value in the form that users set and see: a word or a number. */
    Object shown(long value) {
        return unit == Unit.WORD ? words.get((int) value - 1) : (Object) value;
    }

    static @Nullable SpaceSetting find(String key) {
        return Arrays.stream(values())
                .filter(setting -> setting.key.equals(key))
                .findAny()
                .orElse(null);
    }

    /**
     * Returns the setting with this name.
     *
     * @throws IllegalArgumentException when none exists; the message lists the existing ones
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
