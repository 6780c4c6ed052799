package io.caravan.server.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.cluster.SlotHash;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlotsTest {
    @Test
    void slotsMatchSpecification() {
        // The check value for the CRC in the specification.
        assertThat(Slots.of("123456789".getBytes(UTF_8))).isEqualTo(0x31C3 % Slots.COUNT);
        assertThat(Slots.of("{user1000}.following".getBytes(UTF_8)))
                .isEqualTo(Slots.of("{user1000}.followers".getBytes(UTF_8)))
                .isEqualTo(Slots.of("user1000".getBytes(UTF_8)));
        assertThat(Slots.of("foo{}{bar}".getBytes(UTF_8)))
                .as("nothing between the first braces: the whole name")
                .isEqualTo(SlotHash.getSlot("foo{}{bar}"));
        assertThat(Slots.of("foo{{bar}}zap".getBytes(UTF_8))).isEqualTo(Slots.of("{bar".getBytes(UTF_8)));
    }

    @Test
    void slotsMatchClientLibrary() {
        Random random = new Random(16_384);
        for (int i = 0; i < 10_000; i++) {
            byte[] name = new byte[random.nextInt(20)];
            for (int at = 0; at < name.length; at++) {
                name[at] = (byte) (random.nextInt(4) == 0 ? "{}ab".charAt(random.nextInt(4)) : random.nextInt(256));
            }
            assertThat(Slots.of(name)).as("name %d", i).isEqualTo(SlotHash.getSlot(name));
        }
    }
}
