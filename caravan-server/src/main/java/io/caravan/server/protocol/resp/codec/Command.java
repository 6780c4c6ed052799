package io.caravan.server.protocol.resp.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A request's words: the command's name and its arguments. */
public final class Command implements Request {
    /** How much of a word an error repeats, as in Redis. */
    private static final int SHORT_CHARS = 128;
    /** No command and no keyword is longer. */
    private static final int MAX_KEYWORD_BYTES = 32;
    /** Sign and digits of the longest number. */
    private static final int MAX_NUMBER_BYTES = 20;

    private final byte[][] words;

    /**
     * A command of these words, which are not copied.
     *
     * @param words one or more
     */
    public Command(byte[]... words) {
        this.words = words;
    }

    /** Number of words, the name included. */
    public int size() {
        return words.length;
    }

    public byte[] word(int index) {
        return words[index];
    }

    public List<byte[]> wordsFrom(int index) {
        return Arrays.asList(words).subList(index, words.length);
    }

    public String text(int index) {
        return new String(words[index], StandardCharsets.UTF_8);
    }

    /** The word as text, cut off where it would be too long for an error. */
    public String shortText(int index) {
        byte[] word = words[index];
        return new String(word, 0, Math.min(word.length, SHORT_CHARS), StandardCharsets.UTF_8);
    }

    /** What the words take in memory, about, as {@link RespLimits} counts it. */
    public long bytes() {
        long bytes = 0;
        for (byte[] word : words) {
            bytes += word.length + RespLimits.WORD_OVERHEAD_BYTES;
        }
        return bytes;
    }

    /** The word in lower case, as errors have commands. */
    public String lower(int index) {
        return shortText(index).toLowerCase(Locale.ROOT);
    }

    /** The word in upper case, for comparison with keywords; cut off where it is longer than any of them. */
    public String keyword(int index) {
        byte[] word = words[index];
        int bytes = Math.min(word.length, MAX_KEYWORD_BYTES + 1);
        return new String(word, 0, bytes, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
    }

    /**
     * The word as a decimal number: digits of ASCII, and perhaps a minus sign.
     *
     * @throws CommandException when it is not
     */
    public long number(int index) {
        byte[] word = words[index];
        if (word.length <= MAX_NUMBER_BYTES && isDecimal(word)) {
            try {
                return Long.parseLong(new String(word, StandardCharsets.US_ASCII));
            } catch (NumberFormatException tooGreat) {
                throw notANumber();
            }
        }
        throw notANumber();
    }

    private static boolean isDecimal(byte[] word) {
        int firstDigit = word.length > 1 && word[0] == '-' ? 1 : 0;
        for (int i = firstDigit; i < word.length; i++) {
            if (word[i] < '0' || word[i] > '9') {
                return false;
            }
        }
        return word.length > 0;
    }

    private static CommandException notANumber() {
        return new CommandException("ERR value is not an integer or out of range");
    }

    /**
     * The word as a decimal number of zero or more.
     *
     * @throws CommandException when it is not
     */
    public long count(int index) {
        long number = number(index);
        if (number < 0) {
            throw new CommandException("ERR value is out of range, must be positive");
        }
        return number;
    }

    /** Whether the word is this keyword, in any case. */
    public boolean is(int index, String keyword) {
        return index < words.length && keyword(index).equals(keyword);
    }
}
