package io.caravan.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the reloading of files that have changed and then stayed the same for a while. */
class FileWatchTest {
    @TempDir
    private Path directory;

    private Path file;
    private int reloads;
    private boolean wrong;
    private FileWatch watch;

    @BeforeEach
    void start() throws IOException {
        file = Files.writeString(directory.resolve("f"), "a");
        watch = new FileWatch(List.of(file)) {
            @Override
            public void reload() throws IOException {
                reloads++;
                if (wrong && reloads == 1) {
                    throw new NoClassDefFoundError("wrong");
                }
                if (wrong) {
                    throw new IOException("wrong");
                }
            }
        };
    }

    private void checkTimes(int times) {
        for (int i = 0; i < times; i++) {
            watch.check();
        }
    }

    @Test
    void doesNotReloadUnchangedFile() {
        checkTimes(3);
        assertThat(reloads).isZero();
    }

    /** The server reads its secrets, and later starts to watch them. A secret that is revoked between must not stay valid. */
    @Test
    void readsFileAgainThatChangedBeforeWatchBegins() throws IOException {
        FileWatch read = new FileWatch(List.of(file)) {
            {
                Files.writeString(file, "changed after the first read");
            }

            @Override
            public void reload() {
                reloads++;
            }
        };
        read.check();
        read.check();
        assertThat(reloads).isOne();
    }

    @Test
    void reloadsAfterChangeSettles() throws IOException {
        Files.writeString(file, "ab");
        checkTimes(1);
        Files.writeString(file, "abc");
        checkTimes(1);
        assertThat(reloads).isZero();
        checkTimes(3);
        assertThat(reloads).isOne();
    }

    @Test
    void reloadsReplacedFileOfSameLengthAndTime() throws IOException {
        FileTime time = Files.getLastModifiedTime(file);
        Path other = Files.writeString(directory.resolve("g"), "b");
        Files.setLastModifiedTime(other, time);
        Files.delete(file);
        Files.move(other, file);
        checkTimes(2);
        assertThat(reloads).isOne();
    }

    @Test
    void retriesFailedReloadUntilItSucceeds() throws IOException {
        wrong = true;
        Files.writeString(file, "not to be read yet");
        checkTimes(4);
        assertThat(reloads).isEqualTo(3);
        wrong = false;
        checkTimes(4);
        assertThat(reloads).isEqualTo(4);
    }
}
