package io.caravan.server.protocol.resp.dispatch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
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
    void isAsRedisHasIt(String pattern, String text, boolean expected) {
        assertThat(matches(pattern, text)).isEqualTo(expected);
    }

    @Test
    void manyStarsTakeNoTime() {
        String pattern = "a*".repeat(1_000) + "b";
        Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(10),
                () -> assertThat(matches(pattern, "a".repeat(1_024))).isFalse());
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
    void itBeginsWithWhatAllThatMatchesBeginsWith(String pattern, String beginning) {
        assertThat(new String(new Glob(pattern.getBytes(ISO_8859_1)).beginning(), ISO_8859_1))
                .isEqualTo(beginning);
    }
}
