package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CrashStorageTest {

    @Test
    void aWriteIsVisibleAndNotDurable() throws IOException {
        CrashStorage storage = new CrashStorage(1);
        try (StoreFile file = storage.create("a", 2048)) {
            storage.forceDirectory();
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 600);
            assertThat(storage.visible("a")[600]).isEqualTo((byte) 1);
            assertThat(storage.durable("a")).containsOnly(0);
            file.force();
            assertThat(storage.durable("a")).isEqualTo(storage.visible("a"));
            assertThat(storage.powerCut(new SplittableRandom(1)).visible("a")).isEqualTo(storage.visible("a"));
        }
    }
}
