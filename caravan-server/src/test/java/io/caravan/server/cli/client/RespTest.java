package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the numbers that a reader of RESP accepts, and that it limits the memory of a value. */
class RespTest {
    private static final int MAX_ELEMENTS = 4;
    private static final int MAX_BYTES = 40;

    private static Resp reader(String input) {
        return new Resp(
                new ByteArrayInputStream(input.getBytes(UTF_8)), IllegalStateException::new, MAX_ELEMENTS, MAX_BYTES);
    }

    private static String text(int length) {
        return "$" + length + "\r\n" + "x".repeat(length) + "\r\n";
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 999_999_999_999_999_999L, 1_000_000_000_000_000_000L, Long.MAX_VALUE, Long.MIN_VALUE})
    void readsEveryNumber(long number) throws IOException {
        assertThat(reader(":" + number + "\r\n").value()).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(strings = {"9223372036854775808", "-9223372036854775809", "10000000000000000000", "1e3", "", "-"})
    void rejectsWhatIsNoNumber(String number) {
        assertThatThrownBy(() -> reader(":" + number + "\r\n").value())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("'" + number + "' is not a 64-bit number");
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 1L << 62, Long.MAX_VALUE})
    void limitsEntriesOfMap(long entries) {
        assertThatThrownBy(
                        () -> reader("%" + entries + "\r\n" + "_\r\n".repeat(9)).value())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("4 elements");
    }

    @Test
    void limitsElementsOfNestedCollections() throws IOException {
        String two = "*2\r\n:1\r\n:2\r\n";
        Resp reader = reader(two + two + two);
        for (int i = 0; i < 3; i++) {
            assertThat(reader.value()).isEqualTo(List.of(1L, 2L));
        }
        assertThatThrownBy(() -> reader("*2\r\n" + two + two).value())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("4 elements");
        assertThatThrownBy(() -> reader("*1000000000\r\n" + "_\r\n".repeat(9)).value())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("4 elements");
    }

    @Test
    void limitsBytesOfAllStrings() throws IOException {
        assertThat(reader("*2\r\n" + text(10) + text(10)).value()).isInstanceOf(List.class);
        assertThatThrownBy(() -> reader("*2\r\n" + text(20) + text(20)).value())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("40 bytes");
        assertThatThrownBy(
                        () -> reader("+" + "x".repeat(MAX_BYTES + 1) + "\r\n").value())
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("40 bytes");
    }
}
