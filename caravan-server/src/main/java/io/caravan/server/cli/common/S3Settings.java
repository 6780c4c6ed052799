package io.caravan.server.cli.common;

import io.caravan.server.archive.object.S3Options;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options for access to an archive's bucket. Credentials are never options, because other users of the machine can
 * see command lines. The AWS SDK obtains credentials from the environment, from its configuration files, or from the
 * machine's role.
 */
public final class S3Settings {
    /** The position of these options in the help text: after a command's own options. */
    public static final int ORDER = 10;

    @Option(
            names = "--s3-endpoint",
            order = ORDER,
            paramLabel = "URL",
            defaultValue = "${env:CARAVAN_S3_ENDPOINT}",
            description = "URL of an S3 service other than Amazon S3, such as http://127.0.0.1:9000. Alternatively,"
                    + " set CARAVAN_S3_ENDPOINT.")
    private @Nullable URI endpoint;

    @Option(
            names = "--s3-region",
            order = ORDER,
            paramLabel = "REGION",
            defaultValue = "${env:CARAVAN_S3_REGION}",
            description =
                    "Region of the bucket, if the AWS SDK does not find it. Alternatively, set" + " CARAVAN_S3_REGION.")
    private @Nullable String region;

    @Option(
            names = "--s3-path-style",
            order = ORDER,
            arity = "0..1",
            fallbackValue = "true",
            paramLabel = "BOOL",
            defaultValue = "${env:CARAVAN_S3_PATH_STYLE:-false}",
            description = "Name the bucket in the path, as most S3 services other than Amazon S3 require."
                    + " Alternatively, set CARAVAN_S3_PATH_STYLE=true.")
    private boolean pathStyle;

    /**
     * Returns these settings as {@link S3Options}.
     *
     * @throws IllegalArgumentException if the endpoint is invalid
     */
    public S3Options options() {
        try {
            return new S3Options(endpoint, region == null || region.isEmpty() ? null : region, pathStyle);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("--s3-endpoint: " + wrong.getMessage(), wrong);
        }
    }
}
