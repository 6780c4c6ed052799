package io.caravan.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HttpResponsesTest {
    private static final String THREE = "HTTP/1.1 204 No Content\r\nStream-Next-Offset: 7\r\n\r\n"
            + "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nthere"
            + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";

    @Test
    void parsesResponsesInChunksOfAnySize() throws IOException {
        byte[] bytes = THREE.getBytes(StandardCharsets.US_ASCII);
        for (int step = 1; step <= bytes.length; step++) {
            HttpAppends.Responses reader = new HttpAppends.Responses();
            List<Boolean> errors = new ArrayList<>();
            for (int from = 0; from < bytes.length; from += step) {
                reader.read(ByteBuffer.wrap(bytes, from, Math.min(step, bytes.length - from)), errors::add);
            }
            assertThat(errors).as("%d bytes at a time", step).containsExactly(false, true, false);
        }
    }

    @Test
    void rejectsNonHttpResponse() {
        ByteBuffer resp = ByteBuffer.wrap("-ERR no\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> new HttpAppends.Responses().read(resp, error -> {}))
                .isInstanceOf(IOException.class)
                .hasMessage("received something other than an HTTP response");
    }
}
