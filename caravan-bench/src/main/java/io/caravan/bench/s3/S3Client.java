package io.caravan.bench.s3;

import java.net.URI;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;

/** The SDK's own client, for what is done to an S3 server by hand. */
public final class S3Client {
    private S3Client() {}

    /** A client's settings, as far as our servers ask for them. */
    public static S3AsyncClientBuilder builder(URI endpoint) {
        return S3AsyncClient.builder()
                .endpointOverride(endpoint)
                .region(Region.of(S3Account.REGION))
                .credentialsProvider(S3Account.credentials())
                .forcePathStyle(true);
    }
}
