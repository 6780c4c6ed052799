package io.caravan.server.cli.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.cli.client.ClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the values that a command reads from its input, one per line. */
class AppendInputTest {
    private static List<String> lines(InputStream in) throws IOException {
        List<String> lines = new ArrayList<>();
        AppendCommand.readLines(in, () -> {}, line -> lines.add(new String(line, UTF_8)));
        return lines;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "a", "a\n", "a\nb", "\na\n\nb\n", "a\r\n"})
    void readsEachLineAsValue(String text) throws IOException {
        List<String> expected = new ArrayList<>(List.of(text.split("\n", -1)));
        if (expected.get(expected.size() - 1).isEmpty()) {
            expected.remove(expected.size() - 1);
        }
        assertThat(lines(new ByteArrayInputStream(text.getBytes(UTF_8)))).isEqualTo(expected);
    }

    @Test
    void readsLinesLongerThanBuffer() throws IOException {
        String text = "x".repeat(300_000) + "\n" + "y".repeat(65_536) + "\nz";
        assertThat(lines(new ByteArrayInputStream(text.getBytes(UTF_8)))).isEqualTo(List.of(text.split("\n")));
    }

    @Test
    void rejectsEndlessInput() {
        assertThatThrownBy(() -> lines(new Endless()))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("line 1 of the input is longer than");
        assertThatThrownBy(() -> AppendCommand.readWhole(new Endless()))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("--lines");
    }

    private static final class Endless extends InputStream {
        @Override
        public int read() {
            return 'x';
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            Arrays.fill(bytes, offset, offset + length, (byte) 'x');
            return length;
        }
    }
}
