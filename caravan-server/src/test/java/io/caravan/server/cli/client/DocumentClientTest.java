package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.DocumentClient.Description;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how many values a client requests at a time, depending on the sizes of the values. */
class DocumentClientTest {
    @ParameterizedTest(name = "{0} values of {1} bytes in all")
    @CsvSource({
        "0, 0, 1",
        "1000000, 0, 1",
        "1000000, 5000000, 16",
        "100, 6553600, 16",
        "100, 10485760, 10",
        "100, 104857600, 1",
        "100, 3355443200, 1",
        "5, 1, 16",
    })
    void pageSizeTargetsOneMebibyte(long values, long bytes, int expected) {
        assertThat(new Description(1, 7, 7 + values, bytes, Map.of()).pageValues())
                .isEqualTo(expected);
    }
}
