package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.S3Server;
import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.netty.channel.EventLoopGroup;
import java.net.URI;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.BucketAlreadyExistsException;
import software.amazon.awssdk.services.s3.model.BucketAlreadyOwnedByYouException;

/**
 * Tests the object store contract against a running S3 server. {@code CARAVAN_TEST_S3_ENDPOINT} is its URL, and the
 * variables of the AWS SDK contain the credentials. The bucket, {@code CARAVAN_TEST_S3_BUCKET} or
 * {@value S3Server#BUCKET}, is created if it is missing.
 */
@EnabledIfEnvironmentVariable(named = S3EndpointTest.ENDPOINT, matches = ".+")
class S3EndpointTest extends ObjectStoreContract {
    static final String ENDPOINT = "CARAVAN_TEST_S3_ENDPOINT";

    private static EventLoopGroup threads;
    private static S3AsyncClient client;

    private final String prefix = "test-" + UUID.randomUUID() + "/";

    @BeforeAll
    static void createBucket() throws Exception {
        threads = S3ObjectStore.threads();
        client = S3ObjectStore.client(
                options(), EnvironmentVariableCredentialsProvider.create(), S3Timeouts.DEFAULT, threads);
        try {
            client.createBucket(request -> request.bucket(bucket())).get();
        } catch (ExecutionException failed) {
            assertThat(failed.getCause())
                    .isInstanceOfAny(BucketAlreadyOwnedByYouException.class, BucketAlreadyExistsException.class);
        }
    }

    @AfterAll
    static void closeClient() {
        client.close();
        threads.shutdownGracefully();
    }

    private static S3Options options() {
        return new S3Options(URI.create(System.getenv(ENDPOINT)), null, true);
    }

    private static String bucket() {
        return System.getenv().getOrDefault("CARAVAN_TEST_S3_BUCKET", S3Server.BUCKET);
    }

    @Override
    ObjectStore openPlace() {
        return S3ObjectStore.open(
                bucket(),
                prefix,
                options(),
                EnvironmentVariableCredentialsProvider.create(),
                S3Timeouts.DEFAULT,
                S3Parts.DEFAULT);
    }

    @Override
    void assertNothingHalfDone() throws Exception {
        assertThat(client.listMultipartUploads(request -> request.bucket(bucket()))
                        .get()
                        .uploads())
                .noneMatch(upload -> upload.key().startsWith(prefix));
    }
}
