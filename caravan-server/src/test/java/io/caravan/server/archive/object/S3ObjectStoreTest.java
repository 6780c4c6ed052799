package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.S3Server;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on a server in this process. */
class S3ObjectStoreTest extends ObjectStoreContract {
    private static final AtomicInteger PLACES = new AtomicInteger();
    private static S3Server server;

    private final String url = S3Server.url("place-" + PLACES.incrementAndGet());

    @BeforeAll
    static void startServer() throws Exception {
        server = S3Server.start();
    }

    @AfterAll
    static void stopServer() throws Exception {
        server.close();
    }

    @Override
    ObjectStore openPlace() {
        return ObjectStores.place(url).open(server.options());
    }

    @Override
    void assertNothingHalfDone() {
        assertThat(server.blobs().listMultipartUploads(S3Server.BUCKET)).isEmpty();
    }
}
