package io.caravan.server.cli.archive;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.S3Options;
import io.caravan.server.config.HostPort;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for the location of an archive, and for the speed of access to it. */
public final class ArchivePlace {
    private static final int ORDER = S3Settings.ORDER;
    private static final int MAX_JOBS = 256;

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--archive",
            order = ORDER,
            paramLabel = "URL",
            defaultValue = "${env:CARAVAN_ARCHIVE}",
            description = "Location of the archive: file:DIRECTORY or s3://BUCKET/PREFIX. The default is the"
                    + " environment variable CARAVAN_ARCHIVE.")
    private @Nullable String url;

    @Option(
            names = "--jobs",
            order = ORDER - 1,
            paramLabel = "N",
            defaultValue = "16",
            description = "Number of documents to process at a time, from 1 to 256.")
    private int jobs;

    @Mixin
    private S3Settings s3;

    /** Returns the number of documents to process at a time; throws {@link ParameterException} if it is invalid. */
    int jobs() {
        if (jobs < 1 || jobs > MAX_JOBS) {
            throw new ParameterException(spec.commandLine(), "--jobs must be from 1 to " + MAX_JOBS);
        }
        return jobs;
    }

    /** Returns the configured location, or null if there is none. */
    public @Nullable String url() {
        return url == null || url.isEmpty() ? null : url;
    }

    /** Opens the configured location; throws {@link ParameterException} if none is configured, or it is invalid. */
    public ObjectStore open() {
        String named = url();
        if (named == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "give the location of the archive: --archive file:DIRECTORY or --archive s3://BUCKET/PREFIX");
        }
        return open(named);
    }

    /** Opens a location with the configured options; throws {@link ParameterException} if it is invalid. */
    public ObjectStore open(String place) {
        try {
            return ObjectStores.place(place).open(s3.options());
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /**
     * The options for access to an archive's bucket. Credentials are never options, because other users of the machine
     * can see command lines; the AWS SDK finds them in the environment, its files, or the machine's role.
     */
    public static final class S3Settings {
        /** The position of these options in the help text: after a command's own options. */
        public static final int ORDER = 10;

        @Option(
                names = "--s3-endpoint",
                order = ORDER,
                paramLabel = "URL",
                defaultValue = "${env:CARAVAN_S3_ENDPOINT}",
                description = "URL of an S3 service other than Amazon S3, such as http://127.0.0.1:9000. Alternatively,"
                        + " set CARAVAN_S3_ENDPOINT.")
        private @Nullable String endpoint;

        @Option(
                names = "--s3-region",
                order = ORDER,
                paramLabel = "REGION",
                defaultValue = "${env:CARAVAN_S3_REGION}",
                description = "Region of the bucket, if the AWS SDK does not find it. Alternatively, set"
                        + " CARAVAN_S3_REGION.")
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

        public S3Options options() {
            try {
                URI url = endpoint == null || endpoint.isEmpty() ? null : new URI(endpoint);
                return new S3Options(url, region == null || region.isEmpty() ? null : region, pathStyle);
            } catch (URISyntaxException malformed) {
                // Java's message would quote a user and a password.
                throw new IllegalArgumentException(
                        "--s3-endpoint: '" + HostPort.withoutUser(String.valueOf(endpoint)) + "' is not a URL");
            } catch (IllegalArgumentException wrong) {
                throw new IllegalArgumentException("--s3-endpoint: " + wrong.getMessage(), wrong);
            }
        }
    }
}
