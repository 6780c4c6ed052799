package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class InlineWordsTest {

    private static String split(String line) {
        byte[][] words = InlineWords.split(line.getBytes(ISO_8859_1));
        return words == null
                ? "unbalanced"
                : Arrays.stream(words)
                        .map(word -> "[" + new String(word, ISO_8859_1) + "]")
                        .reduce("", String::concat);
    }

    @Test
    void splitsAtWhitespace() {
        assertThat(split("RPUSH  k\tv\r")).isEqualTo("[RPUSH][k][v]");
        assertThat(split("")).isEmpty();
        assertThat(split(" \r")).isEmpty();
    }

    @Test
    void parsesSingleAndDoubleQuotes() {
        assertThat(split("a \"b c\" 'd e' \"\" ''")).isEqualTo("[a][b c][d e][][]");
        assertThat(split("pre\"fix\"")).isEqualTo("[prefix]");
        assertThat(split("'it\\'s' 'a\\n'")).isEqualTo("[it's][a\\n]");
    }

    @Test
    void parsesEscapesInDoubleQuotes() {
        assertThat(split("\"\\n\\r\\t\\b\\a\\\\\\\"\\x41\\xzz\"")).isEqualTo("[\n\r\t\b\u0007\\\"Axzz]");
    }

    @Test
    void rejectsUnbalancedQuotes() {
        assertThat(split("\"a")).isEqualTo("unbalanced");
        assertThat(split("'a")).isEqualTo("unbalanced");
        assertThat(split("\"a\"b")).isEqualTo("unbalanced");
        assertThat(split("\"a\\\"")).isEqualTo("unbalanced");
    }
}
