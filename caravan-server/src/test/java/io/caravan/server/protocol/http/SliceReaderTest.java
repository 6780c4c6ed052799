package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SliceReaderTest {
    private static boolean endsWhole(byte[] bytes, int length) {
        return SliceReader.endsWithWholeCharacter(Unpooled.wrappedBuffer(bytes, 0, length));
    }

    @ParameterizedTest
    @ValueSource(ints = {'a', 0x7f, 0x80, 0x7ff, 0x800, 0x20ac, 0xffff, 0x10000, 0x10ffff})
    void characterIsCompleteAfterLastByte(int character) {
        byte[] bytes = ("a" + Character.toString(character)).getBytes(UTF_8);
        for (int length = 2; length < bytes.length; length++) {
            assertThat(endsWhole(bytes, length)).as("%d bytes", length).isFalse();
        }
        assertThat(endsWhole(bytes, bytes.length)).isTrue();
        assertThat(endsWhole(bytes, 1)).isTrue();
        assertThat(endsWhole(bytes, 0)).isTrue();
    }

    @Test
    void invalidBytesCountAsComplete() {
        byte[][] notText = {
            {(byte) 0x80},
            {(byte) 0xc0},
            {(byte) 0xff},
            {(byte) 0xf5},
            {'a', (byte) 0xbf, (byte) 0xbf},
            {(byte) 0xbf, (byte) 0xbf, (byte) 0xbf, (byte) 0xbf}
        };
        for (byte[] bytes : notText) {
            assertThat(endsWhole(bytes, bytes.length)).isTrue();
        }
    }
}
