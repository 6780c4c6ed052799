package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;

/** Tests the limit on the number of values in a JSON request body. */
class JsonBodyTest {
    private static Problem rejected(String body) {
        return assertThatExceptionOfType(Problem.class)
                .isThrownBy(() -> LiveStreams.parse(body.getBytes(UTF_8), new JsonBody(0)))
                .actual();
    }

    @Test
    void rejectsBodyWithTooManyTokens() {
        Problem problem = rejected("{\"streams\":[" + "{},".repeat(10_000) + "{}]}");
        assertThat(problem.status()).isEqualTo(413);
        assertThat(problem.code()).isEqualTo("too_many_messages");
    }

    @Test
    void errorReportsValuePosition() {
        assertThat(rejected("{\"streams\":[{},{\"offset\":1}]}").detail()).contains("streams[1].offset");
        assertThat(rejected("{\"streams\":[{\"from\":1}]}").detail()).contains("streams[0].from is unknown");
    }
}
