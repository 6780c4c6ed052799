package io.caravan.bench.s3;

import java.net.URI;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Credentials for the clients of the S3 servers in this package. They are not secret, because the servers listen only
 * on the loopback address, for a few minutes.
 */
public final class S3Account {
    static final String REGION = "us-east-1";

    static final String ACCESS_KEY = "caravan";
    static final String SECRET_KEY = "not-a-secret";

    private S3Account() {}

    /** Returns the environment variables from which the SDK reads the account's credentials and region. */
    public static Map<String, String> environment() {
        return Map.of("AWS_ACCESS_KEY_ID", ACCESS_KEY, "AWS_SECRET_ACCESS_KEY", SECRET_KEY, "AWS_REGION", REGION);
    }

    /** Returns the options that point Caravan's commands to an archive in a bucket on one of these servers. */
    public static List<String> archive(String bucketAndPrefix, URI endpoint) {
        return List.of(
                "--archive",
                "s3://" + bucketAndPrefix,
                "--s3-endpoint",
                endpoint.toString(),
                "--s3-region",
                REGION,
                "--s3-path-style");
    }

    static StaticCredentialsProvider credentials() {
        return StaticCredentialsProvider.create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY));
    }
}
