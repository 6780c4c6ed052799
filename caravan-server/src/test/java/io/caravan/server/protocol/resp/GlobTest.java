package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {
    private static boolean matches(String pattern, String text) {
        return new Glob(pattern.getBytes(ISO_8859_1)).matches(text.getBytes(ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            abc     | abc   | true
            abc     | abd   | false
            abc     | ab    | false
            *       | ~~    | true
            ~~      | ~~    | true
            ~~      | a     | false
            a*      | a     | true
            *c      | abc   | true
            a*c*e   | abcde | true
            a*c*f   | abcde | false
            **b     | ab    | true
            a?c     | abc   | true
            a?      | a     | false
            [abc]   | b     | true
            [a-c]x  | bx    | true
            [c-a]x  | bx    | true
            [^a-c]  | b     | false
            [^a-c]  | d     | true
            [\\]]   | ]     | true
            [a\\-c] | b     | false
            [a\\-c] | -     | true
            [ab     | b     | true
            [       | a     | false
            \\*     | *     | true
            \\*     | a     | false
            a\\     | a\\   | true
            é[à-ü]  | éè    | true
            """)
    void matchesLikeRedis(String pattern, String text, boolean expected) {
        assertThat(matches(pattern, text)).isEqualTo(expected);
    }

    /** The matcher must agree with an exhaustive search on short random patterns and texts. */
    @Test
    void agreesWithExhaustiveDefinition() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            String pattern = random(random, "ab*?[]^-\\\\", random.nextInt(12));
            String text = random(random, "ab^-]", random.nextInt(8));
            assertThat(matches(pattern, text))
                    .as("seed %d: '%s' on '%s'", seed, pattern, text)
                    .isEqualTo(defined(pattern, 0, text, 0));
        }
    }

    /** Long patterns, whose bit sets have more than one word, must match correctly. */
    @Test
    void matchesLongPatterns() {
        for (int length : new int[] {63, 64, 65, 127, 128, 129, 1_024}) {
            String text = "ab".repeat(length).substring(0, length);
            assertThat(matches(text, text)).isTrue();
            assertThat(matches("*" + text + "*", "x" + text + "y")).isTrue();
            assertThat(matches(text.replace('a', '?'), text)).isTrue();
            assertThat(matches(text + "*?", text)).isFalse();
            assertThat(matches(text + "*", text)).isTrue();
            assertThat(matches(text, text + "a")).isFalse();
            assertThat(matches("?".repeat(length), text)).isTrue();
            assertThat(matches("?".repeat(length + 1), text)).isFalse();
        }
    }

    private static String random(Random random, String letters, int length) {
        return random.ints(length, 0, letters.length())
                .mapToObj(at -> letters.substring(at, at + 1))
                .collect(Collectors.joining());
    }

    private static boolean defined(String pattern, int in, String text, int at) {
        if (in == pattern.length()) {
            return at == text.length();
        }
        if (pattern.charAt(in) == '*') {
            return defined(pattern, in + 1, text, at) || at < text.length() && defined(pattern, in, text, at + 1);
        }
        if (at == text.length()) {
            return false;
        }
        char c = text.charAt(at);
        int next = in + 1;
        boolean fits = true;
        if (pattern.charAt(in) == '\\' && next < pattern.length()) {
            fits = pattern.charAt(next++) == c;
        } else if (pattern.charAt(in) == '[') {
            boolean negated = next < pattern.length() && pattern.charAt(next) == '^';
            next += negated ? 1 : 0;
            fits = false;
            while (next < pattern.length() && pattern.charAt(next) != ']') {
                next += pattern.charAt(next) == '\\' && next + 1 < pattern.length() ? 1 : 0;
                char low = pattern.charAt(next);
                char high = low;
                if (next + 2 < pattern.length() && pattern.charAt(next + 1) == '-') {
                    next += 2;
                    next += pattern.charAt(next) == '\\' && next + 1 < pattern.length() ? 1 : 0;
                    high = pattern.charAt(next);
                }
                fits |= Math.min(low, high) <= c && c <= Math.max(low, high);
                next++;
            }
            next = Math.min(next + 1, pattern.length());
            fits ^= negated;
        } else if (pattern.charAt(in) != '?') {
            fits = pattern.charAt(in) == c;
        }
        return fits && defined(pattern, next, text, at + 1);
    }

    /** A pattern with many stars must not take exponential time, as it would if all ways to match were tried. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void manyStarsDoNotTakeExponentialTime() {
        assertThat(matches("a*".repeat(1_000) + "b", "a".repeat(1_024))).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            abc      | abc
            ab*c     | ab
            *        | ~~
            ~~       | ~~
            a?       | a
            a[b]     | a
            [a]b     | ~~
            a\\*b*   | a*b
            a\\bc?   | abc
            a\\      | a\\
            """)
    void returnsLiteralPrefixOfPattern(String pattern, String beginning) {
        assertThat(new String(new Glob(pattern.getBytes(ISO_8859_1)).beginning(), ISO_8859_1))
                .isEqualTo(beginning);
    }
}
