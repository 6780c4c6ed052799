package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.caravan.server.net.Transport;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WarmUpTest {
    @TempDir
    Path parent;

    @Test
    void leavesNoFiles() {
        WarmUp.run(Transport.NIO, parent);
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void toleratesMissingDirectory() {
        assertThatCode(() -> WarmUp.run(Transport.NIO, parent.resolve("missing")))
                .doesNotThrowAnyException();
        assertThat(parent).isEmptyDirectory();
    }
}
