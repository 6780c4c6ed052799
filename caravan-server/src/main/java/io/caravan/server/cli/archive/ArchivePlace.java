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

/** Where an archive lies. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ArchivePlace {
    static final int ORDER = S3Settings.ORDER;

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

    @Mixin
    private S3Settings s3;

    /** What was said about where the archive lies, or null when nothing was. */
    public @Nullable String url() {
        return url == null || url.isEmpty() ? null : url;
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
        try {
            return ObjectStores.place(place).open(s3.options());
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }
}
