package io.caravan.server.cli.archive;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.S3Options;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Where an archive lies. Credentials are never options, as other users of the machine see command lines: the AWS SDK
 * finds them, in the environment, in its files, or from the machine's role.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ArchivePlace {
    /** In help they come behind the command's own options. */
    static final int ORDER = 10;

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--archive",
            order = ORDER,
            paramLabel = "URL",
            defaultValue = "${env:CARAVAN_ARCHIVE}",
            description = "Where the archive lies: file:DIRECTORY or s3://BUCKET/PREFIX; the environment variable"
                    + " CARAVAN_ARCHIVE is another way to say it.")
    private @Nullable String url;

    @Option(
            names = "--s3-endpoint",
            order = ORDER,
            paramLabel = "URL",
            defaultValue = "${env:CARAVAN_S3_ENDPOINT}",
            description = "Address of an S3 server that is not Amazon's, such as http://127.0.0.1:9000; or in"
                    + " CARAVAN_S3_ENDPOINT.")
    private @Nullable URI endpoint;

    @Option(
            names = "--s3-region",
            order = ORDER,
            paramLabel = "REGION",
            defaultValue = "${env:CARAVAN_S3_REGION}",
            description = "The bucket's region, if the AWS SDK does not find it by itself; or in CARAVAN_S3_REGION.")
    private @Nullable String region;

    @Option(
            names = "--s3-path-style",
            order = ORDER,
            defaultValue = "${env:CARAVAN_S3_PATH_STYLE:-false}",
            description = "The bucket is part of the path and not of the host's name, as most servers that are not"
                    + " Amazon's want it; or true in CARAVAN_S3_PATH_STYLE.")
    private boolean pathStyle;

    /** What was said about where the archive lies, or null when nothing was. */
    public @Nullable String url() {
        return url == null || url.isEmpty() ? null : url;
    }

    /**
     * How to reach a bucket.
     *
     * @throws ParameterException when that cannot be
     */
    public S3Options options() {
        try {
            return new S3Options(endpoint, region == null || region.isEmpty() ? null : region, pathStyle);
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /**
     * Opens the place that was named.
     *
     * @throws ParameterException when none was, or it is none
     */
    public ObjectStore open() {
        String named = url();
        if (named == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "say where the archive is: --archive file:DIRECTORY or --archive s3://BUCKET/PREFIX");
        }
        return open(named);
    }

    /**
     * Opens a place with the options that were given.
     *
     * @throws ParameterException when it is none
     */
    public ObjectStore open(String place) {
        S3Options options = options();
        try {
            return ObjectStores.open(place, options);
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }
}
