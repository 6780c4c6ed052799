package io.caravan.bench.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests s3proxy, the S3 server that needs no installation. */
@Tag("slow")
class S3ProcessTest {
    private static final String KEY = "folder/key";

    @TempDir
    private Path directory;

    @Test
    void objectsSurviveKill() throws IOException {
        assertThat(S3Software.S3PROXY.program().install()).isNull();
        try (S3Process server = S3Process.start(S3Software.S3PROXY, directory);
                Bucket bucket = new Bucket(server.endpoint(), "bucket")) {
            bucket.create();
            bucket.put(KEY, new byte[] {1, 2, 3});
            server.kill();
            assertThatThrownBy(() -> bucket.get(KEY)).isInstanceOf(IOException.class);
            server.restart();
            assertThat(bucket.keys("")).containsExactly(KEY);
            assertThat(bucket.get(KEY)).containsExactly(1, 2, 3);
            bucket.delete(KEY);
            assertThat(bucket.keys("")).isEmpty();
        }
    }
}
