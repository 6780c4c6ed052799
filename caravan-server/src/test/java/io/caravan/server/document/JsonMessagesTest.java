package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonMessagesTest {
    private static final DocumentName NAME = DocumentName.of("json");

    /** The JSON factory must be replaced after it parses long field names, because it caches names of any length. */
    @Test
    void replacesFactoryAfterLongFieldNames() {
        Object before = JsonMessages.current;
        for (int i = 0; i < 6; i++) {
            String name = i + "n".repeat(1 << 20);
            byte[] message = ("{\"" + name + "\":1}").getBytes(UTF_8);
            List<byte[]> messages = new ArrayList<>();
            JsonMessages.forEach(NAME, message, messages::add);
            assertThat(messages).containsExactly(message);
        }
        assertThat(JsonMessages.current).isNotSameAs(before);
    }
}
