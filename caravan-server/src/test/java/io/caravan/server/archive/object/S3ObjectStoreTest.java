package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.S3Server;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/** Tests the object store contract against an S3 server in this JVM. */
@Tag("slow")
class S3ObjectStoreTest extends ObjectStoreContract {
    private static final AtomicInteger PLACES = new AtomicInteger();

    @AutoClose
    private static S3Server server;

    private final String place = "place-" + PLACES.incrementAndGet();

    @BeforeAll
    static void startServer() throws Exception {
        server = S3Server.start();
    }

    @Override
    ObjectStore openPlace() {
        return ObjectStores.place(S3Server.url(place)).open(server.options());
    }

    @Override
    void fill(List<String> keys) {
        for (String key : keys) {
            server.blobs()
                    .putBlob(
                            PutObjectRequest.builder()
                                    .bucket(S3Server.BUCKET)
                                    .key(place + "/" + key)
                                    .contentLength(1L)
                                    .build(),
                            new ByteArrayInputStream(new byte[1]));
        }
    }

    @Override
    void assertNothingHalfDone() {
        assertThat(server.blobs().listMultipartUploads(S3Server.BUCKET)).isEmpty();
    }
}
