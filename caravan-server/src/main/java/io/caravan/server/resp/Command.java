package io.caravan.server.resp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A request's words: the command's name and its arguments. */
final class Command implements Request {
    private final byte[][] words;

    /**
     * A command of these words, which are not copied.
     *
     * @param words one or more
     */
    Command(byte[]... words) {
        this.words = words;
    }

    /** Number of words, the name included. */
    int size() {
        return words.length;
    }

    byte[] word(int index) {
        return words[index];
    }

    /** The words from this one on. */
    List<byte[]> wordsFrom(int index) {
        return Arrays.asList(words).subList(index, words.length);
    }

    /** The word as text. */
    String text(int index) {
        return new String(words[index], StandardCharsets.UTF_8);
    }

    /** The word in upper case, as keywords are compared. */
    String keyword(int index) {
        return new String(words[index], StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
    }

    /**
     * The word as a decimal number.
     *
     * @throws CommandException when it is none
     */
    long number(int index) {
        try {
            return Long.parseLong(text(index));
        } catch (NumberFormatException none) {
            throw new CommandException("ERR value is not an integer or out of range");
        }
    }
}
