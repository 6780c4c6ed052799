package io.caravan.server.protocol.http.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class HttpDateTest {
    @Test
    void itIsAsInTheStandard() {
        long millis = Instant.parse("1994-11-06T08:49:37Z").toEpochMilli();
        assertThat(HttpDate.at(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
        assertThat(HttpDate.at(millis + 999)).isEqualTo(HttpDate.at(millis));
        assertThat(HttpDate.at(millis + 1000)).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        assertThat(HttpDate.at(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
