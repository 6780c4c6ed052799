package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** A request to run a command: the words of the request, which are the command's name and its arguments. */
final class Command implements RespRequest {
    /** Maximum number of documents in one command; limited because a write locks all of them at once. */
    private static final int MAX_NAMES = 16 * 1024;
    /** Maximum length of a word in an error message, as in Redis. */
    private static final int SHORT_CHARS = 128;

    private static final int MAX_KEYWORD_BYTES = 32;
    private static final int MAX_NUMBER_BYTES = 20;

    /** The definition of the command; {@link CommandSpec#UNKNOWN} if no command has this name. */
    final CommandSpec spec;

    private final byte[][] words;

    /**
     * Creates a command of one or more words, which are not copied.
     *
     * @param specs the commands by their names in upper case, and those spellings that need no conversion to upper case
     */
    Command(Map<AsciiString, CommandSpec> specs, byte[]... words) {
        this.words = words;
        CommandSpec known = specs.get(new AsciiString(words[0], false));
        this.spec = known == null ? specs.getOrDefault(new AsciiString(keyword(0)), CommandSpec.UNKNOWN) : known;
    }

    /** Returns the number of words, including the name. */
    int size() {
        return words.length;
    }

    byte[] word(int index) {
        return words[index];
    }

    /** Whether the number of words is one that the command takes. */
    boolean hasValidSize() {
        return spec.arity >= 0 ? words.length == spec.arity : words.length >= -spec.arity;
    }

    /** Returns the document that the first word after the command's name names. */
    DocumentName name() {
        return DocumentName.of(words[1]);
    }

    /** Returns the documents that the command names. Throws a {@link CommandException} if there are too many. */
    Collection<DocumentName> names() {
        if (spec.keys == CommandSpec.Keys.FIRST) {
            // A write to a single document needs a set of its name.
            return Set.of(name());
        }
        List<byte[]> named = spec.keys.of(this);
        requireFewNames(named.size(), "documents");
        return named.stream().map(DocumentName::of).toList();
    }

    void requireFewNames(int names, String what) {
        if (names > MAX_NAMES) {
            throw new CommandException("ERR " + shortText(0) + " accepts at most " + MAX_NAMES + " " + what
                    + " at a time; use several commands");
        }
    }

    List<byte[]> wordsFrom(int index) {
        return index == words.length - 1
                ? List.of(words[index])
                : Arrays.asList(words).subList(index, words.length);
    }

    String text(int index) {
        return new String(words[index], StandardCharsets.UTF_8);
    }

    /** Returns the word as text, truncated for an error message. */
    String shortText(int index) {
        byte[] word = words[index];
        return new String(word, 0, Math.min(word.length, SHORT_CHARS), StandardCharsets.UTF_8);
    }

    /** Returns the approximate memory that the words take, including {@link RespLimits#WORD_OVERHEAD_BYTES}. */
    long bytes() {
        long bytes = 0;
        for (byte[] word : words) {
            bytes += word.length + RespLimits.WORD_OVERHEAD_BYTES;
        }
        return bytes;
    }

    /** Returns the word in lower case, truncated for an error message. */
    String lower(int index) {
        return shortText(index).toLowerCase(Locale.ROOT);
    }

    /** Returns the word in upper case, for comparison with keywords. Truncates words longer than any keyword. */
    String keyword(int index) {
        byte[] word = words[index];
        int bytes = Math.min(word.length, MAX_KEYWORD_BYTES + 1);
        return new String(word, 0, bytes, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
    }

    /**
     * Returns the word as a decimal number: ASCII digits, with an optional minus sign. Throws a {@link
     * CommandException} if it is none.
     */
    long number(int index) {
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

    /** Returns the word as a nonnegative decimal number. Throws a {@link CommandException} if it is none. */
    long count(int index) {
        long number = number(index);
        if (number < 0) {
            throw new CommandException("ERR value is out of range, must be positive");
        }
        return number;
    }

    /** Whether the word is {@code ON} rather than {@code OFF}. Throws a {@link CommandException} if it is neither. */
    boolean isOn(int index) {
        if (!is(index, "ON") && !is(index, "OFF")) {
            throw CommandException.syntax();
        }
        return is(index, "ON");
    }

    /** Whether there is a word at this index that equals the keyword, regardless of case. */
    boolean is(int index, String keyword) {
        return index < words.length && keyword(index).equals(keyword);
    }
}
