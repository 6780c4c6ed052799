package io.caravan.server.archive.object;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The options for reaching a bucket, in addition to its name. The AWS SDK finds the credentials.
 *
 * @param endpoint address of a server that is not Amazon's, or null
 * @param region the bucket's region, or null for the one that the AWS SDK finds; with an endpoint and no region found,
 *     it is {@code us-east-1}
 * @param pathStyle true when the bucket is part of the path and not of the host name, as most servers other than
 *     Amazon's require
 */
public record S3Options(@Nullable URI endpoint, @Nullable String region, boolean pathStyle) {

    public S3Options {
        // Checks the raw authority, because Java does not parse one with several '@'. The message omits the password.
        String authority = endpoint == null ? null : endpoint.getRawAuthority();
        if (authority != null && authority.indexOf('@') >= 0) {
            throw new IllegalArgumentException(
                    "an S3 endpoint must not contain a user or a password: use the credential sources"
                            + " of the AWS SDK, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
        }
        if (endpoint != null && !isServer(endpoint)) {
            throw new IllegalArgumentException(
                    "an S3 endpoint has the form https://host:port, without a path, not '" + endpoint + "'");
        }
    }

    private static boolean isServer(URI endpoint) {
        boolean http = "http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme());
        String path = endpoint.getPath();
        return http && endpoint.getHost() != null && (path == null || path.isEmpty() || path.equals("/"));
    }
}
