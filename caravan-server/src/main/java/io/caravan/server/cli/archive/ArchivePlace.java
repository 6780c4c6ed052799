package io.caravan.server.cli.archive;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.cli.common.S3Settings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for the location of an archive. */
public final class ArchivePlace {
    static final int ORDER = S3Settings.ORDER;

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

    @Mixin
    private S3Settings s3;

    /** Returns the configured location, or null if there is none. */
    public @Nullable String url() {
        return url == null || url.isEmpty() ? null : url;
    }

    /**
     * Opens the configured location.
     *
     * @throws ParameterException if no valid location is configured
     */
    public ObjectStore open() {
        String named = url();
        if (named == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "give the location of the archive: --archive file:DIRECTORY or --archive s3://BUCKET/PREFIX");
        }
        return open(named);
    }

    /**
     * Opens a location with the configured options.
     *
     * @throws ParameterException if the location is invalid
     */
    public ObjectStore open(String place) {
        try {
            return ObjectStores.place(place).open(s3.options());
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }
}
