package io.caravan.bench.s3;

import java.net.URI;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;

/** The SDK's own client, for direct requests to an S3 server. */
public final class S3Client {
    private S3Client() {}

    /** The client settings that our servers require. */
    public static S3AsyncClientBuilder builder(URI endpoint) {
        return S3AsyncClient.builder()
                .endpointOverride(endpoint)
                .region(Region.of(S3Account.REGION))
                .credentialsProvider(S3Account.credentials())
                .forcePathStyle(true);
    }
}
