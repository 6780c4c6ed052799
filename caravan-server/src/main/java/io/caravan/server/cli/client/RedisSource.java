package io.caravan.server.cli.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The address of a Redis, and the user there; a mixin for commands that bring lists from it. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class RedisSource {
    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "A Redis whose lists are imported instead of a file:"
                    + " redis://[USER:PASSWORD@]HOST:PORT[/DB], with TLS rediss://.")
    private @Nullable String url;

    @Option(
            names = "--from-password-file",
            paramLabel = "FILE",
            description =
                    "A file that holds the password there, which other users of the machine do not see, as they see"
                            + " command lines. It can also be set in the environment variable CARAVAN_FROM_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--from-tls-ca",
            paramLabel = "FILE",
            description = "Certificates (PEM) of the authorities to trust there instead of Java's defaults.")
    private @Nullable Path authorities;

    /** Whether a Redis is meant. */
    public boolean isGiven() {
        return url != null;
    }

    RedisConnection connect(ConnectionOptions options, Map<String, String> environment) throws IOException {
        RedisAddress address;
        try {
            address = RedisAddress.parse(String.valueOf(url));
        } catch (IllegalArgumentException unfit) {
            throw new ParameterException(spec.commandLine(), "--from " + unfit.getMessage());
        }
        return options.connect(environment, address, passwordFile, authorities);
    }
}
