package io.caravan.catalog;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttributesTest {
    private static final Attributes THREE = Attributes.EMPTY
            .with("type", bytes("text/plain"))
            .with("closed", new byte[0])
            .with("expiry", bytes("3600"));

    private static byte[] bytes(String text) {
        return text.getBytes(US_ASCII);
    }

    @Test
    void keepsAttributesInKeyOrder() {
        assertThat(THREE.asMap().keySet()).containsExactly("closed", "expiry", "type");
        assertThat(THREE.get("type")).isEqualTo(bytes("text/plain"));
        assertThat(THREE.get("closed")).isEmpty();
        assertThat(THREE.get("absent")).isNull();
    }

    @Test
    void withReplacesValueWithoutChangingOriginal() {
        assertThat(THREE.with("expiry", bytes("1")).get("expiry")).isEqualTo(bytes("1"));
        assertThat(THREE.get("expiry")).isEqualTo(bytes("3600"));
    }

    @Test
    void equalityIgnoresInsertionOrder() {
        Attributes again = Attributes.EMPTY
                .with("expiry", bytes("3600"))
                .with("type", bytes("text/plain"))
                .with("closed", new byte[0]);
        assertThat(again).isEqualTo(THREE).hasSameHashCodeAs(THREE);
        assertThat(again.without("type")).isNotEqualTo(THREE);
    }

    @Test
    void removingLastAttributeYieldsEmpty() {
        assertThat(THREE.without("type").without("closed").without("expiry").without("expiry"))
                .isSameAs(Attributes.EMPTY);
    }

    @Test
    void decodesEncodedAttributes() {
        assertThat(Attributes.decode(THREE.encoded())).isEqualTo(THREE);
        assertThat(Attributes.decode(new byte[0])).isSameAs(Attributes.EMPTY);
    }

    @Test
    void acceptsValuesOnlyUpToSizeLimit() {
        byte[] longest = new byte[Attributes.MAX_BYTES - 1 - 1 - Short.BYTES];
        longest[longest.length - 1] = 7;
        assertThat(Attributes.decode(Attributes.EMPTY.with("k", longest).encoded())
                        .get("k"))
                .isEqualTo(longest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Attributes.EMPTY.with("k", new byte[longest.length + 1]))
                .withMessageContaining("over the limit of 16384");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "a b", "tab\t", "é", "01234567890123456789012345678901234567890123456789012345678901234"
            })
    void rejectsInvalidKeys(String key) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Attributes.EMPTY.with(key, new byte[0]))
                .withMessageContaining("1 to 64 printable ASCII");
    }

    @Test
    void rejectsTruncatedEncodings() {
        byte[] encoded = THREE.encoded();
        for (int length = 1; length < encoded.length; length++) {
            byte[] cut = Arrays.copyOf(encoded, length);
            boolean complete = length == 9 || length == 9 + 13;
            if (complete) {
                assertThat(Attributes.decode(cut).asMap())
                        .as("cut at %d", length)
                        .isNotEmpty();
            } else {
                assertThatIllegalArgumentException().as("cut at %d", length).isThrownBy(() -> Attributes.decode(cut));
            }
        }
    }

    @Test
    void rejectsKeysNotStrictlyAscending() {
        byte[] twice = {1, 'k', 0, 0, 1, 'k', 0, 0};
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Attributes.decode(twice))
                .withMessageContaining("rise");
    }
}
