package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.S3Server;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.caravan.testing.LongTimeout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Tests uploads of objects in many parts. */
@Tag("slow")
@LongTimeout
class S3UploadTest {
    private static final int MEBIBYTE = 1 << 20;
    /** Part limits that allow two small parts and one large part. */
    private static final S3Parts FEW = new S3Parts(5 * MEBIBYTE, 2, 10 * MEBIBYTE, 3);

    private static final int ROOM = 20 * MEBIBYTE;

    private S3Server server;
    private ObjectStore store;

    @BeforeEach
    void startServer() throws Exception {
        server = S3Server.start();
        store = S3ObjectStore.open(
                S3Server.BUCKET,
                "",
                server.options(),
                StaticCredentialsProvider.create(AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)),
                S3Timeouts.DEFAULT,
                FEW);
    }

    @AfterEach
    void stopServer() throws Exception {
        assertThat(server.blobs().listMultipartUploads(S3Server.BUCKET)).isEmpty();
        store.close();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {5 * MEBIBYTE - 1, 5 * MEBIBYTE, 5 * MEBIBYTE + 1, 10 * MEBIBYTE, 10 * MEBIBYTE + 1, ROOM - 1, ROOM})
    void storesObjectsAtPartSizeBoundaries(int bytes) {
        byte[] content = new byte[bytes];
        new SplittableRandom(bytes).nextBytes(content);
        store.put("a", out -> out.write(content));
        assertThat(store.get("a", ROOM).content()).isEqualTo(content);
    }

    @Test
    void rejectsObjectBeyondMaxParts() {
        assertThatThrownBy(() -> store.put("a", out -> out.write(new byte[ROOM + 1])))
                .isInstanceOfSatisfying(
                        ObjectStoreException.class,
                        rejected -> assertThat(rejected.kind()).isEqualTo(Kind.CORRUPT))
                .hasMessageContaining("more than 3 parts");
        assertThat(store.get("a", ROOM)).isNull();
    }
}
