package io.caravan.format;

import java.util.Collection;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The names of a store's files: a kind, a number in 16 hexadecimal digits, and an ending. */
public enum FileNames {
    LOG("log-", ".wal", "CARAVLOG"),
    HEAP("heap-", ".dat", "CARAVHEP"),
    CHECKPOINT("checkpoint-", ".ckp", "CARAVCKP");

    /**
     * The file that records the number of shards in a sharded store's directory. It has only a header: {@code number} is
     * the number of shards, and the other fields are zero.
     */
    public static final String SHARDS = "caravan.shards";

    /** The letters with which the file {@link #SHARDS} starts. */
    public static final String SHARDS_LETTERS = "CARAVGRP";

    /** The file that records the position up to which the log was fsynced; see {@link FsyncedLsnLayout}. */
    public static final String FORCED_LSN = "log.forced";

    /** The ending of files that are being written and are not valid yet. */
    public static final String TEMPORARY_ENDING = ".tmp";

    private final String prefix;
    private final String ending;
    private final String letters;
    private final Pattern pattern;

    FileNames(String prefix, String ending, String letters) {
        this.prefix = prefix;
        this.ending = ending;
        this.letters = letters;
        this.pattern = Pattern.compile(Pattern.quote(prefix) + "([0-7][0-9a-f]{15})" + Pattern.quote(ending));
    }

    /** Returns the name of a shard's directory within the directory of a sharded store. */
    public static String shard(int number) {
        return "shard-" + number;
    }

    /** Returns the eight letters with which the files start. */
    public String letters() {
        return letters;
    }

    /** Returns the name of the file with this number. */
    public String of(long number) {
        return String.format(Locale.ROOT, "%s%016x%s", prefix, number, ending);
    }

    /** Returns the name of the file while it is being written. */
    public String temporary(long number) {
        return of(number) + TEMPORARY_ENDING;
    }

    /** Returns the number in the file name if the name is of this kind, or empty otherwise. */
    public OptionalLong number(String name) {
        Matcher matcher = pattern.matcher(name);
        return matcher.matches() ? OptionalLong.of(Long.parseLong(matcher.group(1), 16)) : OptionalLong.empty();
    }

    /** Returns the numbers of the files whose names are of this kind. */
    public TreeSet<Long> numbers(Collection<String> names) {
        TreeSet<Long> numbers = new TreeSet<>();
        names.forEach(name -> number(name).ifPresent(numbers::add));
        return numbers;
    }

    /** Whether this is the temporary name that a file of any kind has while it is being written. */
    public static boolean isTemporary(String name) {
        return name.endsWith(TEMPORARY_ENDING)
                && isFinished(name.substring(0, name.length() - TEMPORARY_ENDING.length()));
    }

    /** Whether this is the name of a store's file, finished or not. */
    public static boolean isOurs(String name) {
        return isFinished(name) || isTemporary(name);
    }

    private static boolean isFinished(String name) {
        return name.equals(FORCED_LSN)
                || Stream.of(values()).anyMatch(kind -> kind.number(name).isPresent());
    }
}
