package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.catalog.Attributes;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the limits on imported attributes. With the attributes that the store adds, they must fit into the archive. */
class PortableAttributesTest {
    /** The space for attributes that the store and the archive add: marks, ages, fork, fence, and redirect. */
    private static final int STORES_OWN_BYTES = 4 * 1024;

    private static final Map<String, Integer> LONGEST = new TreeMap<>(Map.of(
            "content-type",
            CreateRequest.MAX_CONTENT_TYPE_CHARS,
            "closed",
            Producer.MAX_ID_BYTES,
            "stream-seq",
            3 * AppendRequest.MAX_STREAM_SEQ_CHARS));

    private static DocumentAttributes parse(String name, int bytes) {
        return PortableAttributes.parse(Map.of(name, "x".repeat(bytes).getBytes(US_ASCII)));
    }

    @ParameterizedTest
    @CsvSource({"content-type", "closed", "stream-seq"})
    void limitsLengthOfTextAttributes(String name) {
        int longest = LONGEST.get(name);
        assertThat(parse(name, longest).raw().get(name)).hasSize(longest);
        for (int tooLong : new int[] {longest + 1, Attributes.MAX_BYTES - 100, 1 << 20}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> parse(name, tooLong))
                    .withMessageContaining(Integer.toString(longest));
        }
    }

    @Test
    void rejectsInvalidUtf8AndKeepsValidText() {
        for (String name : new String[] {"closed", "stream-seq"}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> PortableAttributes.parse(Map.of(name, new byte[] {'a', (byte) 0xff})))
                    .withMessageContaining("'" + name + "'");
        }
        // The replacement characters of invalid bytes would take three times as many bytes.
        byte[] producer = Producers.NONE.with(new Producer("p", 1, 1)).encode();
        producer[producer.length - 1] = (byte) 0xff;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PortableAttributes.parse(Map.of("producers", producer)))
                .withMessageContaining("'producers' must be text");
        byte[] text = "\u20ac".getBytes(UTF_8);
        assertThat(PortableAttributes.parse(Map.of("closed", text)).raw().get("closed"))
                .isEqualTo(text);
    }

    /** A document with any expiry that a client can set must be importable; PEXPIREAT accepts every number. */
    @ParameterizedTest
    @ValueSource(longs = {0, 999_999_999_999_999_999L, Long.MAX_VALUE})
    void parsesEveryExpiry(long number) {
        byte[] digits = Long.toString(number).getBytes(US_ASCII);
        assertThat(PortableAttributes.parse(Map.of("expires", digits)).expiresAtMillis())
                .hasValue(number);
        assertThat(PortableAttributes.parse(Map.of("ttl", digits)).ttlSeconds()).hasValue(number);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "+1", "x", "9223372036854775808", "99999999999999999999999999999999"})
    void rejectsInvalidExpiry(String digits) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PortableAttributes.parse(Map.of("expires", digits.getBytes(UTF_8))))
                .withMessage("the attribute 'expires' must be a number below 2^63");
    }

    @Test
    void maximumAttributesLeaveSpaceForStoreAttributes() {
        Map<String, byte[]> all = new TreeMap<>();
        LONGEST.forEach((name, bytes) -> all.put(name, "x".repeat(bytes).getBytes(US_ASCII)));
        all.put("ttl", Long.toString(Long.MAX_VALUE).getBytes(US_ASCII));
        Producers producers = Producers.NONE;
        for (int i = 0; i < 200; i++) {
            producers = producers.with(new Producer("p".repeat(Producer.MAX_ID_BYTES - 3) + (100 + i), 1, 1));
        }
        all.put("producers", producers.encode());
        assertThat(producers.encode().length).isGreaterThan(Producers.MAX_BYTES - 2 * Producer.MAX_ID_BYTES);
        Attributes imported = PortableAttributes.parse(all).raw();
        assertThat(imported.with("room", new byte[STORES_OWN_BYTES]).get("room"))
                .hasSize(STORES_OWN_BYTES);
    }
}
