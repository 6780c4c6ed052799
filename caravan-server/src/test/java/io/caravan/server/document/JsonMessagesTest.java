package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonMessagesTest {
    private static final DocumentName NAME = DocumentName.of("json");

    private static List<byte[]> messages(byte[] body) {
        List<byte[]> messages = new ArrayList<>();
        JsonMessages.forEach(NAME, body, messages::add);
        return messages;
    }

    @Test
    void removesWhiteSpaceAroundSingleValue() {
        for (String value : List.of("7", "\"\u00e9 \"", "{\"a\": [ ]}", "true")) {
            byte[] stripped = value.getBytes(UTF_8);
            assertThat(messages((" \t\r\n" + value + "\n\r\t ").getBytes(UTF_8)))
                    .containsExactly(stripped);
            assertThat(messages((value + " ").getBytes(UTF_8))).containsExactly(stripped);
        }
    }

    @Test
    void doesNotCopySingleValue() {
        byte[] body = "{\"a\": 1}".getBytes(UTF_8);
        assertThat(messages(body).get(0)).isSameAs(body);
    }

    /** The JSON factory must be replaced after it parses long field names, because it caches names of any length. */
    @Test
    void replacesFactoryAfterLongFieldNames() {
        Object before = JsonMessages.current;
        for (int i = 0; i < 6; i++) {
            String name = i + "n".repeat(1 << 20);
            byte[] message = ("{\"" + name + "\":1}").getBytes(UTF_8);
            assertThat(messages(message)).containsExactly(message);
        }
        assertThat(JsonMessages.current).isNotSameAs(before);
    }
}
