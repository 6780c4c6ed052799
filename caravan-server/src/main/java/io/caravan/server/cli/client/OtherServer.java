package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The address of a second server, and the user there; a mixin for commands that bring documents to it. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class OtherServer {
    private static final String PASSWORD_VARIABLE = "CARAVAN_TO_PASSWORD";

    @Option(
            names = "--to",
            required = true,
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "The other server's RESP address. TLS is used for both servers, or for none.")
    private HostPort address;

    @Option(names = "--to-user", paramLabel = "NAME", description = "The user to log in as there.")
    private @Nullable String user;

    @Option(
            names = "--to-password-file",
            paramLabel = "FILE",
            description = "A file that holds the password there. It can also be set in the environment variable "
                    + PASSWORD_VARIABLE + ".")
    private @Nullable Path passwordFile;

    ServerConnection connect(ConnectionOptions options, Map<String, String> environment) throws IOException {
        return options.connect(
                environment, new ConnectionOptions.Target(address, user, passwordFile, PASSWORD_VARIABLE, "--to-"));
    }
}
