package io.caravan.bench.s3;

import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Who the clients of our S3 servers are. It is no secret: the servers listen on the loopback address, for minutes. */
public final class S3Account {
    public static final String REGION = "us-east-1";

    static final String ACCESS_KEY = "caravan";
    static final String SECRET_KEY = "not-a-secret";

    private S3Account() {}

    /** What a process has to have in its environment, for the SDK's chain of credentials to find it there. */
    public static Map<String, String> environment() {
        return Map.of("AWS_ACCESS_KEY_ID", ACCESS_KEY, "AWS_SECRET_ACCESS_KEY", SECRET_KEY, "AWS_REGION", REGION);
    }

    /** Has the SDK's chain of credentials find it in this process. */
    public static void useHere() {
        System.setProperty("aws.accessKeyId", ACCESS_KEY);
        System.setProperty("aws.secretAccessKey", SECRET_KEY);
        System.setProperty("aws.region", REGION);
    }

    static StaticCredentialsProvider credentials() {
        return StaticCredentialsProvider.create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY));
    }
}
